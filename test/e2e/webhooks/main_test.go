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
	*testing.T
	client.Client
	namespace string
	// group is the API group of the test's own kinds, which no other test has.
	group string
}

// newWorld makes a namespace without an OperatorGroup. Operators go with the test, and their kinds.
func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	c, err := running()
	if err != nil {
		t.Fatalf("start the manager: %v", err)
	}
	w := &world{T: t, Client: c, namespace: devcluster.Namespace(t)}
	w.group = w.namespace + ".example.com"
	t.Cleanup(func() { devcluster.DeleteDefinitions(t, w.group) })
	t.Cleanup(func() { w.uninstall(w.namespace) })
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
	w.eventually("operators to be uninstalled", func() error {
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
	return &operatorsv1.OperatorGroup{ObjectMeta: w.named("group")}
}

func (w *world) here() *operatorsv1.OperatorGroup {
	group := w.everywhere()
	group.Spec.TargetNamespaces = []string{w.namespace}
	return group
}

func (w *world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) make(objects ...client.Object) {
	w.Helper()
	harness.Create(w.T, w, objects...)
}

// read reads an object of the namespace, or one that has none, and says whether it is there.
func (w *world) read(name string, into client.Object) bool {
	w.Helper()
	return harness.Read(w.T, w, w.namespace, name, into)
}

func (w *world) readIn(namespace, name string, into client.Object) bool {
	w.Helper()
	return harness.Read(w.T, w, namespace, name, into)
}

// edit reads an object, changes it and writes it, again and again while others write it too.
func edit[T client.Object](w *world, name string, object T, change func(T)) {
	w.Helper()
	harness.Edit(w.T, w, w.namespace, name, object, change)
}

// eventually waits until the check finds nothing to complain about.
func (w *world) eventually(what string, check func() error) {
	w.Helper()
	harness.Eventually(w.T, what, check)
}

// is waits until a CSV is in a phase for a reason, and returns it.
func (w *world) is(name string, phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	w.eventually(fmt.Sprintf("%s to be %s/%s", name, phase, reason), func() error {
		if !w.read(name, csv) {
			return fmt.Errorf("it is not there")
		}
		if s := csv.Status; s.Phase != phase || s.Reason != reason {
			return fmt.Errorf("it is %s/%s: %s; history %v", s.Phase, s.Reason, s.Message, harness.History(csv))
		}
		return nil
	})
	return csv
}

func (w *world) succeeds(name string) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	return w.is(name, v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVReasonInstallSuccessful)
}

// goes waits until an object is gone.
func (w *world) goes(name string, o client.Object) {
	w.Helper()
	w.eventually(fmt.Sprintf("%T %s to go", o, name), func() error {
		if w.read(name, o) {
			return fmt.Errorf("it is there, finalizers %v", o.GetFinalizers())
		}
		return nil
	})
}
