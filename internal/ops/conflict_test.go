package ops

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/busy"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWrittenMeanwhile: what a controller writes between reading and changing costs nothing, neither there nor back.
func TestWrittenMeanwhile(t *testing.T) {
	p := newPlanned(t)
	p.must(p.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "backup"}}))
	b := p.move.Backup
	b.Kept.Mark = "olm/backup x"
	b.Adopted = nil
	for _, c := range []struct {
		name string
		do   func(context.Context, *migrate.Backup) error
	}{{"freeze", p.mover.freeze}, {"unfreeze", p.mover.unfreeze}, {"freeze again", p.mover.freeze}, {"thaw", p.mover.thaw}, {"retire", p.mover.retire}} {
		written := 0
		p.mover.Client = busy.Client(p.Client.(client.WithWatch), &written)
		if err := c.do(t.Context(), b); err != nil || written != 1 {
			t.Errorf("%s, written %d times in between: %v", c.name, written, err)
		}
		p.mover.Client = p.Client
	}
	sub := &v1alpha1.Subscription{}
	p.must(p.Get(t.Context(), client.ObjectKeyFromObject(p.sub), sub))
	if sub.Spec.InstallPlanApproval != v1alpha1.ApprovalAutomatic || sub.Annotations[frozenKey] != "" || sub.Labels[busy.Label] == "" {
		t.Errorf("%+v", sub)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	p.must(p.Get(t.Context(), client.ObjectKeyFromObject(p.csv), csv))
	if csv.DeletionTimestamp == nil || !isHeld(csv) {
		t.Errorf("%+v", csv.ObjectMeta)
	}
}
