package clusterserviceversion

import (
	"context"
	"fmt"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// prompt is how soon something that was broken is to be healed or told.
	prompt = 5 * time.Second
	// calm is how long a test watches that nothing happens.
	calm = 4 * time.Second
)

func TestMain(m *testing.M) { harness.Main(m) }

// world is a namespace with an OperatorGroup.
type world struct {
	*testing.T
	client.Client
	namespace string
	// group is the API group of the test's own kinds, which no other test has.
	group string
}

// newWorld makes an OperatorGroup for its namespace, for a test that runs at the same time as others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t)
}

// newWorldAlone makes an OperatorGroup with the targets: the namespace itself when there are none, all namespaces for "". No other test runs at the
// time: operators of all namespaces are shown in those of the others, and other tests would disturb one that measures times or counts requests.
func newWorldAlone(t *testing.T, targets ...string) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("scenarios need the embedded cluster")
	}
	c, err := harness.Shared()
	if err != nil {
		t.Fatalf("start the manager: %v", err)
	}
	w := &world{T: t, Client: c, namespace: devcluster.Namespace(t)}
	w.group = w.namespace + ".example.com"
	w.make(w.operatorGroup(targets...))
	return w
}

func (w *world) operatorGroup(targets ...string) *operatorsv1.OperatorGroup {
	group := &operatorsv1.OperatorGroup{ObjectMeta: w.named("group")}
	switch {
	case len(targets) == 0:
		group.Spec.TargetNamespaces = []string{w.namespace}
	case targets[0] != "":
		group.Spec.TargetNamespaces = targets
	}
	return group
}

func (w *world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) make(objects ...client.Object) {
	w.Helper()
	harness.Create(w.T, w, objects...)
}

func (w *world) remove(objects ...client.Object) {
	w.Helper()
	harness.Remove(w.T, w, objects...)
}

// read reads an object of the namespace, or one that has none, and says whether it is there.
func (w *world) read(name string, into client.Object) bool {
	w.Helper()
	return harness.Read(w.T, w, w.namespace, name, into)
}

// edit reads an object, changes it and writes it, again and again while others write it too.
func edit[T client.Object](w *world, name string, object T, change func(T)) {
	w.Helper()
	harness.Edit(w.T, w, w.namespace, name, object, change)
}

// eventually waits until the check finds nothing to complain about, and returns how long that took.
func (w *world) eventually(what string, check func() error) time.Duration {
	w.Helper()
	return harness.Eventually(w.T, what, check)
}

// promptly is eventually, and within the time in which people are told.
func (w *world) promptly(what string, check func() error) {
	w.Helper()
	took := w.eventually(what, check)
	w.Logf("%s: %s", what, took.Round(time.Millisecond))
	if took > prompt {
		w.Errorf("%s: after %s, want %s", what, took, prompt)
	}
}

// is waits until a CSV is in a phase for a reason (any, when it is empty), and returns it.
func (w *world) is(name string, phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	w.eventually(fmt.Sprintf("%s to be %s/%s", name, phase, reason), func() error { return w.check(csv, name, phase, reason) })
	return csv
}

func (w *world) check(csv *v1alpha1.ClusterServiceVersion, name string, phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) error {
	*csv = v1alpha1.ClusterServiceVersion{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, csv); err != nil {
		return err
	}
	if s := csv.Status; s.Phase != phase || reason != "" && s.Reason != reason {
		return fmt.Errorf("it is %s/%s: %s; history %v", s.Phase, s.Reason, s.Message, harness.History(csv))
	}
	return nil
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

// background outlives the test, for what is done when it is over.
func (w *world) background() context.Context { return context.WithoutCancel(w.Context()) }
