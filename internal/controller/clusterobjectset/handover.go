package clusterobjectset

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// handOver gives back to the revision before this one what that is still to keep: a roll-out that is given up must not take away what ran
// before it.
func (c *Controller) handOver(ctx context.Context, f *family, known *notes) error {
	older := f.older()
	if len(older) == 0 {
		return nil
	}
	heir := slices.MaxFunc(older, func(a, b *olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	keeps, why, err := c.keptBy(ctx, heir)
	if err != nil {
		return fmt.Errorf("give back to revision %s what it is to keep: %w", heir.Name, err)
	}
	given := 0
	for _, p := range known.phases {
		for _, e := range p {
			if why == nil && !keeps[anyVersion(e.ref)] {
				continue
			}
			done, err := c.bequeath(ctx, f.set, heir, e.ref)
			if err != nil {
				return err
			}
			if done {
				given++
			}
		}
	}
	if why != nil && given > 0 {
		c.events.Event(f.set, corev1.EventTypeWarning, reasonContentLost, messages.Event(fmt.Sprintf("The content of revision %s is lost, so it is not known which objects it has: "+
			"all %d objects of this revision are left to it, and go when it goes. %v", heir.Name, given, why)))
	}
	return nil
}

// keptBy are the objects that a revision is to keep; why is set when nobody can tell any more.
func (c *Controller) keptBy(ctx context.Context, heir *olmv1.ClusterObjectSet) (keeps map[rollout.Ref]bool, why, _ error) {
	phases, _, err := c.read(ctx, heir)
	if err != nil && revision.Lost(err) {
		return nil, err, nil
	}
	if err != nil {
		return nil, nil, err
	}
	keeps = map[rollout.Ref]bool{}
	for _, p := range phases {
		for _, o := range p.Objects {
			keeps[anyVersion(rollout.RefOf(o.Unstructured))] = true
		}
	}
	return keeps, nil, nil
}

// anyVersion is the same for an object in whatever version of its API it is written.
func anyVersion(ref rollout.Ref) rollout.Ref {
	ref.Version = ""
	return ref
}

// bequeath makes another revision the controller of an object, if this one is. It tells whether it was.
func (c *Controller) bequeath(ctx context.Context, from, to *olmv1.ClusterObjectSet, ref rollout.Ref) (done bool, _ error) {
	live := named(ref)
	err := c.live.Get(ctx, client.ObjectKeyFromObject(live), live)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", ref, err)
	}
	if !metav1.IsControlledBy(live, from) {
		return false, nil
	}
	owners := slices.DeleteFunc(live.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == from.UID || r.UID == to.UID })
	return true, c.edit(ctx, live, func(u *unstructured.Unstructured) { u.SetOwnerReferences(append(owners, controlledBy(to))) })
}
