package clusterobjectset

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// TestForgedSibling: a set that only has the labels of an extension retires none of its revisions.
func TestForgedSibling(t *testing.T) {
	w := newWorld(t)
	w.revise(options(1, configMap(t, "config", "1")))
	w.settle()
	forged := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "forged", UID: "forged", Labels: map[string]string{olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext"},
		Annotations: map[string]string{revision.ServiceAccountKey: "attacker/sa"}},
		Spec: olmv1.ClusterObjectSetSpec{LifecycleState: olmv1.LifecycleStateActive, Revision: 999, CollisionProtection: olmv1.CollisionProtectionPrevent,
			Phases: []olmv1.ClusterObjectSetPhase{{Name: "x", Objects: []olmv1.ClusterObjectSetObject{{Object: configMap(t, "harmless", "1")}}}}}}
	must.NoError(t, w.Inner.Create(t.Context(), forged))
	w.settle()
	if w.get("ConfigMap", "config") == nil {
		t.Errorf("the objects of the extension are gone; there are %v", w.objects())
	}
}
