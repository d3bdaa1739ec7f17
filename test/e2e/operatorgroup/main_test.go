package operatorgroup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// world is the cluster for one test.
type world struct {
	*testing.T
	client.Client
	// own is what is the test's own in names that all tests share.
	own string
	// csv is the name of the operators of the test: those that watch all namespaces are copied into those of other tests.
	csv string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("scenarios need the embedded cluster")
	}
	c, err := harness.Shared()
	if err != nil {
		t.Fatalf("start the manager: %v", err)
	}
	own := devcluster.Namespace(t)
	return &world{T: t, Client: c, own: own, csv: "op-" + own + ".v1.0.0"}
}

// namespaces makes namespaces that go with the test, and returns their names in the same order.
func (w *world) namespaces(count int) []string {
	w.Helper()
	var names []string
	for i := range count {
		name := fmt.Sprintf("%s-%d", w.own, i)
		w.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		w.removeLater(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		names = append(names, name)
	}
	return names
}

func (w *world) make(objects ...client.Object) {
	w.Helper()
	harness.Create(w.T, w, objects...)
}

func (w *world) remove(objects ...client.Object) {
	w.Helper()
	harness.Remove(w.T, w, objects...)
}

// removeLater deletes what has no namespace when the test is over.
func (w *world) removeLater(o client.Object) {
	w.Cleanup(func() {
		if err := w.Delete(context.WithoutCancel(w.Context()), o); client.IgnoreNotFound(err) != nil {
			w.Error(err)
		}
	})
}

// read reads an object and says whether it is there.
func (w *world) read(namespace, name string, into client.Object) bool {
	w.Helper()
	return harness.Read(w.T, w, namespace, name, into)
}

// edit reads an object, changes it and writes it, again and again while others write it too.
func edit[T client.Object](w *world, namespace, name string, object T, change func(T)) {
	w.Helper()
	harness.Edit(w.T, w, namespace, name, object, change)
}

// eventually waits until the check finds nothing to complain about.
func (w *world) eventually(what string, check func() error) {
	w.Helper()
	harness.Eventually(w.T, what, check)
}

// is waits until a CSV is in a phase for a reason, and returns it.
func (w *world) is(namespace, name string, phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	w.eventually(fmt.Sprintf("%s/%s to be %s/%s", namespace, name, phase, reason), func() error {
		if !w.read(namespace, name, csv) {
			return fmt.Errorf("it is not there")
		}
		if s := csv.Status; s.Phase != phase || s.Reason != reason {
			return fmt.Errorf("it is %s/%s: %s", s.Phase, s.Reason, s.Message)
		}
		return nil
	})
	return csv
}

func (w *world) succeeds(namespace, name string) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	return w.is(namespace, name, v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVReasonInstallSuccessful)
}

// goes waits until an object is gone.
func (w *world) goes(namespace, name string, o client.Object) {
	w.Helper()
	w.eventually(fmt.Sprintf("%T %s/%s to go", o, namespace, name), func() error {
		if w.read(namespace, name, o) {
			return fmt.Errorf("it is there")
		}
		return nil
	})
}

// copies waits until the copies of a CSV of the test are in exactly these of its namespaces.
func (w *world) copies(name, from string, namespaces ...string) {
	w.Helper()
	slices.Sort(namespaces)
	w.eventually(fmt.Sprintf("copies of %s to be in %v", name, namespaces), func() error {
		var list v1alpha1.ClusterServiceVersionList
		if err := w.List(w.Context(), &list, client.MatchingLabels{v1alpha1.CopiedFromLabel: from}); err != nil {
			return err
		}
		var got []string
		for _, c := range list.Items {
			if c.Name == name && c.Status.Reason == v1alpha1.CSVReasonCopied && strings.HasPrefix(c.Namespace, w.own) {
				got = append(got, c.Namespace)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, namespaces) {
			return fmt.Errorf("they are in %v", got)
		}
		return nil
	})
}

// group makes the OperatorGroup "group" in a namespace.
func (w *world) group(namespace string, spec v1.OperatorGroupSpec) {
	w.Helper()
	w.make(&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "group"}, Spec: spec})
}

// targets changes the target namespaces of the OperatorGroup "group".
func (w *world) targets(namespace string, names ...string) {
	w.Helper()
	edit(w, namespace, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Spec.Selector, g.Spec.TargetNamespaces = nil, names })
}

func naming(namespaces ...string) v1.OperatorGroupSpec {
	return v1.OperatorGroupSpec{TargetNamespaces: namespaces}
}
