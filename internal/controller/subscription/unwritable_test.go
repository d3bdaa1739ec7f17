package subscription

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestOneGroupStopsNoOther: the API server refuses every write about one plan. The Subscription beside it is planned all the same, in the same pass
// and in later ones, and the error is on the Subscription that it is about.
func TestOneGroupStopsNoOther(t *testing.T) {
	for name, refused := range map[string]func(w *world, write string) bool{
		"its plan cannot be created": func(w *world, write string) bool { // the first creation of a pass; the plan of b may get the same name
			return write == "create InstallPlan "+planName(ns, 1) && slices.Index(w.Writes(), write) == len(w.Writes())-1
		},
		"its steps cannot be written, which is tried again with every pass": func(w *world, write string) bool {
			return slices.ContainsFunc(w.plans(), func(p v1alpha1.InstallPlan) bool {
				return write == "patch status InstallPlan "+p.Name && p.Spec.ClusterServiceVersionNames[0] == "a.v1.0.0"
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""), subscribe("b", "b", ""))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.Before = func(write string) error {
				if refused(w, write) {
					return errors.New("etcdserver: request is too large")
				}
				return nil
			}
			if err := w.reconcile(); err == nil {
				t.Error("nothing has it tried again")
			}
			w.Taken()
			w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0")) // b can be planned from now on, when a has failed already
			if err := w.reconcile(); err == nil {
				t.Error("nothing has it tried again")
			}
			must.Contain(t, "the Subscription of the group says", w.subscription("a").Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed).Message, "request is too large")
			if sub := w.subscription("b"); sub.Status.CurrentCSV != "b.v1.0.0" || sub.Status.InstallPlanRef == nil {
				t.Errorf("the Subscription beside it moves to %q with plan %v: %v", sub.Status.CurrentCSV, sub.Status.InstallPlanRef, sub.Status.Conditions)
			}
		})
	}
}

// TestContentThatIsNeverTaken fails once, before anything is written, and is not tried again for the same content.
func TestContentThatIsNeverTaken(t *testing.T) {
	for name, tc := range map[string]struct{ catalog, want string }{
		"a name that no label can have": {pkg(strings.Repeat("a", 60), "A", "", "1.0.0"), "must be no more than 63"},
		"a large ConfigMap": {pkg("a", "A", "", "1.0.0") + "- type: olm.bundle.object\n  value: {data: " + encoded(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"text":"`+strings.Repeat("x", 1<<20+1)+`"}}`) + "}\n",
			"ConfigMap large: holds 1048577 bytes of data, and the limit of its kind is 1048576"},
		"a large custom resource": {pkg("a", "A", "", "1.0.0") + "- type: olm.bundle.object\n  value: {data: " + encoded(`{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"large"},"spec":{"text":"`+strings.Repeat("x", 3<<19)+`"}}`) + "}\n",
			"and etcd takes at most 1572864 in one request"},
	} {
		t.Run(name, func(t *testing.T) {
			of := "a"
			if strings.Contains(tc.catalog, "aaaa") {
				of = strings.Repeat("a", 60)
			}
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", of, ""))
			w.serve("cat", tc.catalog)
			p := w.planned(t, 1)
			if !isFinal(p) || !strings.Contains(p.Status.Message, tc.want) || len(p.Status.Plan) > 0 {
				t.Errorf("%s, %d steps: %s", p.Status.Phase, len(p.Status.Plan), p.Status.Message)
			}
			sub := w.subscription("a")
			if got := sub.Status.GetCondition(readyCondition); sub.Status.State != v1alpha1.SubscriptionStateFailed || !strings.Contains(got.Message, tc.want) || !strings.Contains(got.Message, "no other plan is made for the same content") {
				t.Errorf("the Subscription is %s: %s", sub.Status.State, got.Message)
			}
			w.Taken()
			for range 5 {
				w.Clock.Step(2 * time.Hour)
				w.mustReconcile()
			}
			must.Empty(t, "writes of another try", w.Writes())
			w.serve("cat", pkg("a", "A", "", "1.0.0", "1.1.0"))
			if of == "a" {
				if newest := w.planned(t, 2); newest.Name == p.Name || len(newest.Status.Plan) == 0 {
					t.Errorf("another version is not planned: %s is %s: %s", newest.Name, newest.Status.Phase, newest.Status.Message)
				}
			}
		})
	}
}

func encoded(manifest string) string { return base64.StdEncoding.EncodeToString([]byte(manifest)) }

// tagged serves a package whose bundle is an image by a tag, and returns what puts an image with a ConfigMap of so many bytes behind the tag.
func (w *world) tagged(t *testing.T) (push func(size int)) {
	t.Helper()
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	ref := strings.TrimPrefix(server.URL, "http://") + "/bundle:v1"
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	w.controller.Unpacker = bundleio.NewUnpacker(store, realTime{w.Clock}, func() {})
	w.serve("cat", strings.Replace(pkg("a", "A", "", "1.0.0"), `image: ""`, "image: "+ref, 1))
	return func(size int) {
		t.Helper()
		files := fstest.MapFS{"metadata/annotations.yaml": {Data: []byte("annotations: {operators.operatorframework.io.bundle.package.v1: a, operators.operatorframework.io.bundle.channels.v1: stable}")}}
		for i, manifest := range manifests("a", "1.0.0") {
			files[fmt.Sprintf("manifests/%d.json", i)] = &fstest.MapFile{Data: []byte(manifest)}
		}
		files["manifests/large.json"] = &fstest.MapFile{Data: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"text":"` + strings.Repeat("x", size) + `"}}`)}
		must.Value(image.Push(t.Context(), ref, files, image.BundleLabels("a", []string{"stable"}, "stable"), image.PushOptions{}))(t)
	}
}

// planned reconciles until there are so many plans, and returns the newest.
func (w *world) planned(t *testing.T, count int) *v1alpha1.InstallPlan {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		w.mustReconcile()
		if len(w.plans()) == count {
			return w.newestPlan()
		}
	}
	t.Fatalf("there are %d plans, want %d", len(w.plans()), count)
	return nil
}

// TestATagThatMovesIsJudgedAgain: a plan that failed on the content of a tag stands as long as the tag leads to the same image, however often that is
// asked, and is followed by another one when it leads elsewhere.
func TestATagThatMovesIsJudgedAgain(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	push := w.tagged(t)
	push(1<<20 + 1)
	failed := w.planned(t, 1)
	if !isFinal(failed) {
		t.Fatalf("%s: %s", failed.Status.Phase, failed.Status.Message)
	}
	retry, err := w.controller.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: ns}})
	if err != nil || retry.RequeueAfter <= 0 || retry.RequeueAfter > repeatFailed {
		t.Errorf("the tag is asked for again after %s, %v", retry.RequeueAfter, err)
	}
	for range 5 {
		w.Clock.Step(repeatLongest)
		before := w.controller.judgements.made[failed.UID].times
		for end := time.Now().Add(20 * time.Second); w.controller.judgements.made[failed.UID].times == before && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			w.mustReconcile()
		}
		if got := w.controller.judgements.made[failed.UID].times; got != before+1 {
			t.Fatalf("judged %d times, want %d", got, before+1)
		}
	}
	must.Equal(t, "plan of the same content", w.onlyPlan().Name, failed.Name)
	push(10)
	w.Clock.Step(repeatLongest)
	if next := w.planned(t, 2); isFinal(next) || len(next.Status.Plan) == 0 {
		t.Errorf("what the tag leads to now is not planned: %s: %s", next.Status.Phase, next.Status.Message)
	}
}

// TestOtherLimitsJudgeAgain: what failed under other limits, such as those of an earlier version of the manager, is judged by these at once, whether the
// content is named by digest or not.
func TestOtherLimitsJudgeAgain(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	large := "- type: olm.bundle.object\n  value: {data: " + encoded(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"text":"`+strings.Repeat("x", 1<<20+1)+`"}}`) + "}\n"
	w.serve("cat", pkg("a", "A", "", "1.0.0")+large)
	failed := w.planned(t, 1)
	if !isFinal(failed) || !strings.HasPrefix(failed.Annotations[judgedAnnotation], limits+"/") {
		t.Fatalf("%s: %s, judged %q", failed.Status.Phase, failed.Status.Message, failed.Annotations[judgedAnnotation])
	}
	for by, want := range map[string]int{failed.Annotations[judgedAnnotation]: 1, "1-2-3-4/0123": 2} {
		w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
		w.serve("cat", pkg("a", "A", "", "1.0.0")+large)
		p := w.planned(t, 1)
		p.Annotations[judgedAnnotation] = by
		must.NoError(t, w.client.Update(t.Context(), p))
		for range 3 {
			w.Clock.Step(time.Hour)
			w.mustReconcile()
		}
		w.planned(t, want)
		must.Equal(t, "count of plans judged by "+by, len(w.plans()), want)
	}
}

// TestAPlanLeftWithoutContentNotesItsJudgement: a plan that was created before the manager was stopped is completed with what its content was judged by, so
// that it is not judged again.
func TestAPlanLeftWithoutContentNotesItsJudgement(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	large := "- type: olm.bundle.object\n  value: {data: " + encoded(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"text":"`+strings.Repeat("x", 1<<20+1)+`"}}`) + "}\n"
	w.serve("cat", pkg("a", "A", "", "1.0.0")+large)
	w.mustReconcile()
	p := w.onlyPlan()
	judged := p.Annotations[judgedAnnotation]
	delete(p.Annotations, judgedAnnotation)
	must.NoError(t, w.client.Update(t.Context(), p))
	p.Status = v1alpha1.InstallPlanStatus{CatalogSources: []string{}}
	must.NoError(t, w.client.Status().Update(t.Context(), p))
	w.mustReconcile()
	if got := w.onlyPlan(); !isFinal(got) || judged == "" || got.Annotations[judgedAnnotation] != judged {
		t.Errorf("completed as %s, judged %q, want %q", got.Status.Phase, got.Annotations[judgedAnnotation], judged)
	}
	for range 3 {
		w.Clock.Step(time.Hour)
		w.mustReconcile()
	}
	must.Equal(t, "count of plans", len(w.plans()), 1)
}
