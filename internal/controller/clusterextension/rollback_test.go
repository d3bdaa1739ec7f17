package clusterextension

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// objects are those of a revision; of the newest one of my when none is named.
func (w *world) objects(of ...*olmv1.ClusterObjectSet) []*unstructured.Unstructured {
	w.t.Helper()
	if len(of) == 0 {
		of = append(of, w.newest("my"))
	}
	all, err := revision.Objects(w.t.Context(), w.client, of[0])
	w.must(err)
	return all
}

// objectsOf are the objects of the newest revision, as text.
func (w *world) objectsOf(r *olmv1.ClusterObjectSet) []string {
	w.t.Helper()
	var out []string
	for _, u := range w.objects(r) {
		text, err := u.MarshalJSON()
		w.must(err)
		out = append(out, string(text))
	}
	return out
}

// TestRollbackTo brings the objects of an earlier revision back, without the catalog and the bundle, and stays there until the annotation is gone.
func TestRollbackTo(t *testing.T) {
	w := newWorld(t, want("my", "a", "1.0.0"))
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	before := w.objectsOf(w.newest("my"))
	w.version("my", "1.1.0")
	w.settle("my")
	w.unserve("cat")
	gets := w.bundles.gets
	w.annotate("my", desired.RollbackToKey, "1")
	w.settle("my")
	if diff := cmp.Diff(before, w.objectsOf(w.newest("my"))); diff != "" || w.installed("my") != "a.v1.0.0" || w.bundles.gets != gets {
		t.Errorf("%s is installed after %d fetches:\n%s", w.installed("my"), w.bundles.gets-gets, diff)
	}
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.settle("my")
	must.Equal(t, "the pinned revision was left for revision", w.newest("my").Spec.Revision, 3)
	w.annotate("my", desired.RollbackToKey, "")
	w.settle("my")
	must.Equal(t, "without the annotation", w.installed("my"), "a.v1.1.0")
}

// TestRollbackToNowhere is told.
func TestRollbackToNowhere(t *testing.T) {
	w := installedWorld(t)
	for value, text := range map[string]string{"7": "which is not there", "x": "which is not the number of a revision"} {
		w.annotate("my", desired.RollbackToKey, value)
		w.pass("my")
		if got := w.condition("my", "Progressing"); !strings.HasPrefix(got, "False/InvalidConfiguration") || !strings.Contains(got, text) {
			t.Errorf("of %s it is said: %s", value, got)
		}
	}
}

// TestRollbackOnFailure goes back when a rollout fails, does not try the same again, and acts on what is new.
func TestRollbackOnFailure(t *testing.T) {
	for name, failed := range map[string][]metav1.Condition{"too long": exceeded, "begun again and again": crashes} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.annotate("my", revision.OnFailureKey, revision.OnFailureRollback)
			w.serve("cat", pkg("a", "1.0.0"))
			w.settle("my")
			before := w.objectsOf(w.newest("my"))
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			w.pass("my")
			w.says(w.newest("my"), rolling...)
			w.pass("my")
			if got := w.newest("my").Spec.Revision; got != 2 {
				t.Fatalf("a roll-out that goes on was left for revision %d", got)
			}
			w.says(w.newest("my"), failed...)
			w.pass("my")
			must.Equal(t, "objects", w.objectsOf(w.newest("my")), before)
			must.Equal(t, "revision", w.newest("my").Spec.Revision, 3)
			w.settle("my")
			must.Equal(t, "what failed is tried again", w.newest("my").Spec.Revision, 3)
			if got := w.condition("my", "Progressing"); !strings.HasPrefix(got, "False/Blocked: the rollout of revision my-2 failed, and revision my-3 rolled back") {
				t.Error(got)
			}
			w.serve("cat", strings.Replace(pkg("a", "1.0.0", "1.2.0"), "replaces: a.v1.0.0", "replaces: a.v1.0.0\n  skips: [a.v1.1.0]", 1))
			w.settle("my")
			must.Equal(t, "what repairs it is not installed", w.installed("my"), "a.v1.2.0")
		})
	}
}

// loseContent deletes the Secrets of a revision.
func (w *world) loseContent(r *olmv1.ClusterObjectSet) {
	w.t.Helper()
	for _, p := range r.Spec.Phases {
		for _, o := range p.Objects {
			w.must(client.IgnoreNotFound(w.client.Delete(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Ref.Namespace, Name: o.Ref.Name}})))
		}
	}
}

// TestRepairWhenGoingBackIsRefused: a rollout has failed and is to be rolled back. Where that cannot be, what catalogs have by then is
// taken. Where it can, that comes first, and both are told of where neither can be had.
func TestRepairWhenGoingBackIsRefused(t *testing.T) {
	repair := strings.Replace(pkg("a", "1.0.0", "1.2.0"), "replaces: a.v1.0.0", "replaces: a.v1.0.0\n  skips: [a.v1.1.0]", 1)
	lost := func(w *world) { w.loseContent(w.revisions("my").Numbered(1)) }
	dropped := func(w *world) {
		w.installCRD(definition(2), w.newest("my"))
		w.counted(2, nil)
	}
	for name, test := range map[string]struct {
		before, repaired func(*world)
		next             string   // the version of the next revision; empty when there is none
		told             []string // what is said when there is none
	}{
		"it can be gone back":                 {next: "1.0.0"},
		"it can be, and the repair cannot":    {repaired: func(w *world) { w.bundles.failed["a.v1.2.0"] = errGone }, next: "1.0.0"},
		"the content is lost":                 {before: lost, next: "1.2.0"},
		"custom resources would be lost":      {before: dropped, repaired: func(w *world) { w.brings("a.v1.2.0", definition(2)) }, next: "1.2.0"},
		"the same for both":                   {before: dropped, told: []string{"bundle a.v1.2.0 does not have it", "bundle a.v1.0.0 does not have it"}},
		"content is lost, and repair as well": {before: lost, repaired: func(w *world) { w.bundles.failed["a.v1.2.0"] = errGone }, told: []string{"connection refused\n", "read revision my-1, which is to be restored"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.annotate("my", revision.OnFailureKey, revision.OnFailureRollback)
			w.annotate("my", permissions.AcknowledgedKey, "*")
			w.brings("a.v1.1.0", definition(2))
			w.serve("cat", pkg("a", "1.0.0"))
			w.settle("my")
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			w.pass("my")
			w.says(w.newest("my"), exceeded...)
			for _, change := range []func(*world){test.before, test.repaired} {
				if change != nil {
					change(w)
				}
			}
			w.serve("cat", repair)
			result := w.pass("my")
			got := w.newest("my")
			if version := got.Annotations[olmv1.BundleVersionKey]; test.next != "" && (got.Spec.Revision != 3 || version != test.next) || test.next == "" && (got.Spec.Revision != 2 || result.RequeueAfter == 0) {
				t.Errorf("%v: %s", names(w.revisions("my")), w.condition("my", "Progressing"))
			}
			for _, text := range test.told {
				must.Contain(t, "message", progressOf(w.extension("my")).Message, text)
			}
			w.server.Taken()
			if w.pass("my"); test.next == "" && len(w.server.Writes()) > 0 {
				t.Errorf("the same is written again: %v", w.server.Writes())
			}
		})
	}
}

// TestFailureWithoutRollback stays as it is, for a person to look at.
func TestFailureWithoutRollback(t *testing.T) {
	w := installedWorld(t)
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.pass("my")
	w.says(w.newest("my"), exceeded...)
	w.pass("my")
	must.Equal(t, "there is revision", w.newest("my").Spec.Revision, 2)
	w.expect("my", "Progressing", "False/ProgressDeadlineExceeded: Revision has not rolled out for 1 minute(s). Last status: x")
}

// TestUpgradeFromLostContent: whether an upgrade asks for more permissions than what is installed has cannot be told without the content of
// that. It waits until a person names the version, and so has looked at it.
func TestUpgradeFromLostContent(t *testing.T) {
	w := installedWorld(t)
	w.loseContent(w.newest("my"))
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	if _, err := w.controller.Reconcile(t.Context(), requestFor("my")); err != nil {
		t.Log(err)
	}
	if got := w.condition("my", "Progressing"); !strings.Contains(got, "its content is lost: Secret olm/my-1-") || !strings.Contains(got, revision.Restore) || !strings.Contains(got, "set spec.source.catalog.version to exactly 1.1.0") {
		t.Errorf("it is told: %s", got)
	}
	w.version("my", "1.1.0")
	w.settle("my")
	w.expectInstalled("my", "a.v1.1.0")
}
