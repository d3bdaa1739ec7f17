package ops

import (
	"context"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/busy"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
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
		do   func(record) error
	}{
		{"freeze", func(r record) error { return approval{r}.freeze(t.Context()) }},
		{"unfreeze", func(r record) error { return approval{r}.unfreeze(t.Context()) }},
		{"freeze again", func(r record) error { return approval{r}.freeze(t.Context()) }},
		{"thaw", func(r record) error { return approval{r}.thaw(t.Context()) }},
		{"retire", func(r record) error { return adoption{r}.retire(t.Context()) }},
	} {
		written := 0
		p.mover.Client = busy.Client(p.Client.(client.WithWatch), &written)
		if err := c.do(p.record()); err != nil || written != 1 {
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
	if csv.DeletionTimestamp == nil || !controllerutil.ContainsFinalizer(csv, hold) {
		t.Errorf("%+v", csv.ObjectMeta)
	}
}

// TestRelabelledMeanwhile: the controller of the ClusterServiceVersion labels an object of the cluster once more, after a revision has adopted it and
// its labels were removed. The ClusterServiceVersion must not take it along.
func TestRelabelledMeanwhile(t *testing.T) {
	for name, times := range map[string]int{"once": 1, "without end": 1000} {
		t.Run(name, func(t *testing.T) {
			p := newPlanned(t)
			labels := map[string]string{v1alpha1.OwnerLabel: p.csv.Name, v1alpha1.OwnerNamespaceLabel: "ops", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind}
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "kite-adopted", Labels: labels}}
			p.must(p.Create(t.Context(), role))
			adopted, err := access{p.Client}.read(t.Context(), migrate.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: role.Name})
			p.must(err)
			p.move.Backup.Adopted = []*unstructured.Unstructured{adopted}
			relabel := func(ctx context.Context, c client.WithWatch) error {
				live := &rbacv1.ClusterRole{}
				if err := c.Get(ctx, client.ObjectKeyFromObject(role), live); err != nil {
					return err
				}
				live.Labels = labels
				return c.Update(ctx, live)
			}
			p.mover.Client = interceptor.NewClient(p.Client.(client.WithWatch), interceptor.Funcs{
				Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
					err := c.Patch(ctx, o, patch, options...)
					_, isRole := o.(*metav1.PartialObjectMetadata)
					if err == nil && isRole && o.GetName() == role.Name && times > 0 {
						times--
						err = relabel(ctx, c)
					}
					return err
				},
			})
			err = adoption{p.record()}.retire(t.Context())
			csv, live := &v1alpha1.ClusterServiceVersion{}, &rbacv1.ClusterRole{}
			p.must(p.Get(t.Context(), client.ObjectKeyFromObject(p.csv), csv))
			p.must(p.Get(t.Context(), client.ObjectKeyFromObject(role), live))
			if name == "once" {
				if err != nil || csv.DeletionTimestamp == nil || live.Labels[v1alpha1.OwnerLabel] != "" {
					t.Errorf("%v; labels %v", err, live.Labels)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "labels the objects of the cluster as its own") || csv.DeletionTimestamp != nil {
				t.Errorf("%v; deleted at %v", err, csv.DeletionTimestamp)
			}
		})
	}
}
