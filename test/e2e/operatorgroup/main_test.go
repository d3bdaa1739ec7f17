package operatorgroup

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

func TestMain(m *testing.M) { harness.Main(m) }

// world is the cluster for one test. Its namespace is part of all names that tests share.
type world struct {
	harness.World
	// csv is the name of the operators of the test: those that watch all namespaces are copied into those of other tests.
	csv string
}

// newWorld is for a test that runs at the same time as others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t)
}

// newWorldAlone is for a test that changes what the whole cluster has once.
func newWorldAlone(t *testing.T) *world {
	t.Helper()
	w := &world{World: harness.NewWorld(t, harness.Shared)}
	w.csv = "op-" + w.Namespace + ".v1.0.0"
	return w
}

// namespaces makes namespaces that go with the test, and returns their names in the same order.
func (w *world) namespaces(count int) []string {
	w.Helper()
	var names []string
	for i := range count {
		name := fmt.Sprintf("%s-%d", w.Namespace, i)
		w.Make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		w.RemoveLater(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		names = append(names, name)
	}
	return names
}

// edit reads an object, changes it and writes it, again and again while others write it too.
func edit[T client.Object](w *world, namespace, name string, object T, change func(T)) {
	w.Helper()
	harness.Edit(w.T, w, namespace, name, object, change)
}

// copies waits until the copies of a CSV of the test are in exactly these of its namespaces.
func (w *world) copies(name, from string, namespaces ...string) {
	w.Helper()
	slices.Sort(namespaces)
	must.Eventually(w, fmt.Sprintf("copies of %s to be in %v", name, namespaces), func() error {
		var list v1alpha1.ClusterServiceVersionList
		if err := w.List(w.Context(), &list, client.MatchingLabels{v1alpha1.CopiedFromLabel: from}); err != nil {
			return err
		}
		var got []string
		for _, c := range list.Items {
			if c.Name == name && c.Status.Reason == v1alpha1.CSVReasonCopied && strings.HasPrefix(c.Namespace, w.Namespace) {
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
	w.Make(&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "group"}, Spec: spec})
}

// targets changes the target namespaces of the OperatorGroup "group".
func (w *world) targets(namespace string, names ...string) {
	w.Helper()
	edit(w, namespace, "group", &v1.OperatorGroup{}, func(g *v1.OperatorGroup) { g.Spec.Selector, g.Spec.TargetNamespaces = nil, names })
}

func naming(namespaces ...string) v1.OperatorGroupSpec {
	return v1.OperatorGroupSpec{TargetNamespaces: namespaces}
}
