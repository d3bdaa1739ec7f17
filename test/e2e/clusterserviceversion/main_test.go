package clusterserviceversion

import (
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

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
	harness.World
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
	w := &world{World: harness.NewWorld(t, harness.Shared)}
	w.group = w.Namespace + ".example.com"
	w.Make(w.operatorGroup(targets...))
	return w
}

func (w *world) operatorGroup(targets ...string) *operatorsv1.OperatorGroup {
	group := &operatorsv1.OperatorGroup{ObjectMeta: w.Named("group")}
	switch {
	case len(targets) == 0:
		group.Spec.TargetNamespaces = []string{w.Namespace}
	case targets[0] != "":
		group.Spec.TargetNamespaces = targets
	}
	return group
}

// edit reads an object, changes it and writes it, again and again while others write it too.
func edit[T client.Object](w *world, name string, object T, change func(T)) {
	w.Helper()
	harness.Edit(w.T, w, w.Namespace, name, object, change)
}

// promptly is eventually, and within the time in which people are told.
func (w *world) promptly(what string, check func() error) {
	w.Helper()
	took := must.Eventually(w, what, check)
	w.Logf("%s: %s", what, took.Round(time.Millisecond))
	if took > prompt {
		w.Errorf("%s: after %s, want %s", what, took, prompt)
	}
}
