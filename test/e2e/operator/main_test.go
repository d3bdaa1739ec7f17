package operator

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

func TestMain(m *testing.M) { devcluster.Main(m) }

// world is a namespace with a manager that is limited to it.
type world struct {
	harness.World
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: harness.NewWorld(t, func() (client.Client, error) { return harness.Client(t, devcluster.Config()), nil })}
	harness.Run(t, manager.Options{Config: devcluster.Config(), Namespaces: []string{w.Namespace}})
	return w
}

// relabel sets the labels of an object: a nil value takes one off.
func (w *world) relabel(o client.Object, key, value string) {
	w.Helper()
	body := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, key, value)
	must.NoErrorf(w, w.Patch(w.Context(), o, client.RawPatch(types.MergePatchType, body)), "label %T %s", o, client.ObjectKeyFromObject(o))
}

// shows waits until an Operator lists components, "kind name" of each, and returns it.
func (w *world) shows(name string, want ...string) *v1.Operator {
	w.Helper()
	slices.Sort(want)
	o := &v1.Operator{}
	harness.Await(w, w, client.ObjectKey{Name: name}, o, fmt.Sprintf("Operator %s to list %v", name, want), func() error {
		if o.Status.Components == nil {
			return fmt.Errorf("it has no status")
		}
		var got []string
		for _, r := range o.Status.Components.Refs {
			got = append(got, r.Kind+" "+r.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			return fmt.Errorf("it lists %v", got)
		}
		return nil
	})
	return o
}

// conditionOf is a condition that an Operator repeats of a component of a kind.
func conditionOf(o *v1.Operator, kind, condition string) corev1.ConditionStatus {
	for _, r := range o.Status.Components.Refs {
		for _, c := range r.Conditions {
			if r.Kind == kind && c.Type == condition {
				return c.Status
			}
		}
	}
	return ""
}

func eachItem(list client.ObjectList, do func(metav1.Object)) error {
	return meta.EachListItem(list, func(o runtime.Object) error {
		do(o.(metav1.Object))
		return nil
	})
}
