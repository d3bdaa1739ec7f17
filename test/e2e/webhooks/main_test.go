package webhooks

import (
	"context"
	"fmt"
	"sync"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

// running is the manager that all tests share. TestRotation changes its clock, and runs before those that are parallel.
// Operators for all namespaces are not copied into those of other tests.
var running = sync.OnceValues(func() (client.Client, error) {
	c, err := harness.Start(manager.Options{Clock: managers, Dial: dial})
	if err != nil {
		return nil, err
	}
	cluster.Store(&c)
	config := &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	config.Spec.Features = &operatorsv1.Features{DisableCopiedCSVs: new(true)}
	return c, c.Create(context.Background(), config)
})

// world is a namespace with an OperatorGroup.
type world struct {
	harness.World
	// group is the API group of the test's own kinds, which no other test has.
	group string
}

// newWorld makes a namespace without an OperatorGroup. Operators go with the test, and their kinds.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: harness.NewWorld(t, running)}
	w.group = w.Namespace + ".example.com"
	t.Cleanup(func() { devcluster.DeleteDefinitions(t, w.group) })
	t.Cleanup(func() { w.uninstall(w.Namespace) })
	return w
}

// uninstall deletes the operators of a namespace and waits until they are gone.
func (w *world) uninstall(namespace string) {
	ctx := context.WithoutCancel(w.Context())
	in := client.InNamespace(namespace)
	if err := w.DeleteAllOf(ctx, &v1alpha1.Subscription{}, in); err != nil {
		w.Error(err)
	}
	if err := w.DeleteAllOf(ctx, &v1alpha1.ClusterServiceVersion{}, in); err != nil {
		w.Error(err)
	}
	must.Eventually(w, "operators to be uninstalled", func() error {
		var list v1alpha1.ClusterServiceVersionList
		if err := w.List(ctx, &list, in); err != nil {
			return err
		}
		for _, csv := range list.Items {
			if !csv.IsCopied() {
				return fmt.Errorf("%s is there: %s", csv.Name, csv.Status.Message)
			}
		}
		return nil
	})
}

// everywhere is an OperatorGroup for all namespaces, here one for the namespace alone.
func (w *world) everywhere() *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: w.Named("group")}
}

func (w *world) here() *operatorsv1.OperatorGroup {
	group := w.everywhere()
	group.Spec.TargetNamespaces = []string{w.Namespace}
	return group
}

// edit reads an object, changes it and writes it, again and again while others write it too.
func edit[T client.Object](w *world, name string, object T, change func(T)) {
	w.Helper()
	harness.Edit(w.T, w, w.Namespace, name, object, change)
}
