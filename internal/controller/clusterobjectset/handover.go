package clusterobjectset

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/apply"
)

// handOver gives back to the revision before this one what that is still to keep: a roll-out that is given up must not take away what ran
// before it.
func (c *Controller) handOver(ctx context.Context, f *family, known *notes) error {
	older := f.older()
	if len(older) == 0 {
		return nil
	}
	heir := slices.MaxFunc(older, func(a, b *olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	phases, _, err := c.read(ctx, heir)
	if err != nil {
		return fmt.Errorf("give back to revision %s what it is to keep: %w", heir.Name, err)
	}
	keeps := map[apply.Ref]bool{}
	for _, p := range phases {
		for _, o := range p.Objects {
			keeps[anyVersion(apply.RefOf(o.Unstructured))] = true
		}
	}
	for _, p := range known.phases {
		for _, e := range p {
			if !keeps[anyVersion(e.ref)] {
				continue
			}
			if err := c.bequeath(ctx, f.set, heir, e.ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// anyVersion is the same for an object in whatever version of its API it is written.
func anyVersion(ref apply.Ref) apply.Ref {
	ref.Version = ""
	return ref
}

// bequeath makes another revision the controller of an object, if this one is.
func (c *Controller) bequeath(ctx context.Context, from, to *olmv1.ClusterObjectSet, ref apply.Ref) error {
	live := named(ref)
	err := c.live.Get(ctx, client.ObjectKeyFromObject(live), live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", ref, err)
	}
	if controller := metav1.GetControllerOf(live); controller == nil || controller.UID != from.UID {
		return nil
	}
	owners := slices.DeleteFunc(live.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == from.UID || r.UID == to.UID })
	return c.edit(ctx, live, func(u *unstructured.Unstructured) { u.SetOwnerReferences(append(owners, controlledBy(to))) })
}
