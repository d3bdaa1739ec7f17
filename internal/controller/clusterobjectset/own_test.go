package clusterobjectset

import (
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/must"
)

// TestDefinitionsOfTheManagerBlock, whatever the set says about objects that are there, and nothing else of it is written: they would be the
// revision's, and go with it.
func TestDefinitionsOfTheManagerBlock(t *testing.T) {
	for _, protection := range []olmv1.CollisionProtection{olmv1.CollisionProtectionPrevent, olmv1.CollisionProtectionIfNoController, olmv1.CollisionProtectionNone} {
		t.Run(string(protection), func(t *testing.T) {
			w := newWorld(t)
			own := thing(t)
			own.SetName("clusterextensions.olm.operatorframework.io")
			set := newSet("mine", 1)
			set.Labels, set.Spec.LifecycleState, set.Spec.CollisionProtection = nil, olmv1.LifecycleStateActive, protection
			set.Spec.Phases = []olmv1.ClusterObjectSetPhase{
				{Name: "first", Objects: []olmv1.ClusterObjectSetObject{{Object: configMap(t, "config", "1")}}},
				{Name: "second", Objects: []olmv1.ClusterObjectSetObject{{Object: own}}},
			}
			must.NoError(t, w.Inner.Create(t.Context(), set))
			w.settle()
			w.expect("mine", "Progressing=False/Blocked: CustomResourceDefinition clusterextensions.olm.operatorframework.io: this API group is of operator lifecycle management itself")
			if got := w.objects(); len(got) > 0 {
				t.Errorf("written: %v", got)
			}
		})
	}
}
