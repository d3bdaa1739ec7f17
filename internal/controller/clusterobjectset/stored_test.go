package clusterobjectset

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

// TestRetiresNothingBeforeItsSuccessIsStored: the revision before one that is complete stays active, and with it what the extension has installed, until the API server
// has the condition Succeeded of the later one. A conflict, and a manager that dies there, change nothing about that.
func TestRetiresNothingBeforeItsSuccessIsStored(t *testing.T) {
	sets := schema.GroupResource{Group: olmv1.GroupName, Resource: "clusterobjectsets"}
	for name, refusal := range map[string]error{
		"the set has changed since it was read": apierrors.NewConflict(sets, "ext-2", errors.New("the object has been modified")),
		"the set is gone":                       apierrors.NewNotFound(sets, "ext-2"),
		"the API server does not answer":        apierrors.NewServiceUnavailable("later"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.revise(options(1, configMap(t, "config", "1")))
			w.settle()
			w.expect("ext-1", "Succeeded=True/Succeeded")
			w.revise(options(2, configMap(t, "config", "2")))
			refused := 0
			w.Before = func(write string) error {
				if !strings.HasPrefix(write, "patch status ClusterObjectSet ext-2") || w.set("ext-2").Status.ObservedPhases == nil {
					return nil
				}
				refused++
				return refusal
			}
			for range 3 {
				_, _ = w.pass("ext-2")
				_, _ = w.pass("ext-1")
			}
			must.Equal(t, "writes of the status that were refused", refused > 0, true)
			must.Equal(t, "objects", w.objects(), []string{"ConfigMap/config@2 of ext-2"})
			w.expect("ext-2", "Succeeded is not set")
			must.Equal(t, "revision 1", w.set("ext-1").Spec.LifecycleState, olmv1.LifecycleStateActive)

			w.Before = nil
			w.restart()
			w.settle()
			w.expect("ext-2", "Succeeded=True/Succeeded")
			must.Equal(t, "revision 1", w.set("ext-1").Spec.LifecycleState, olmv1.LifecycleStateArchived)
		})
	}
}
