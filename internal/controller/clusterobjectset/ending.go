package clusterobjectset

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// ending is with what a set goes.
type ending struct {
	set *olmv1.ClusterObjectSet
	// ext is the extension that the set is a revision of; nil when there is none, or it is gone.
	ext *olmv1.ClusterExtension
	// leaving says that the extension goes, with all its revisions.
	leaving bool
}

// endOf finds out with what a set goes. It reads past the cache: the consent to losing data counts when it is there.
func (c *Controller) endOf(ctx context.Context, f *family) (*ending, error) {
	end := &ending{set: f.set}
	name, uid := revision.ExtensionOf(f.set)
	if uid == "" {
		return end, nil
	}
	ext := &olmv1.ClusterExtension{}
	err := c.live.Get(ctx, client.ObjectKey{Name: name}, ext)
	switch {
	case apierrors.IsNotFound(err) || err == nil && ext.UID != uid:
		end.leaving = f.set.DeletionTimestamp != nil
	case err != nil:
		return nil, fmt.Errorf("read ClusterExtension %s, to see whether it goes: %w", name, err)
	default:
		end.ext, end.leaving = ext, f.set.DeletionTimestamp != nil && !ext.DeletionTimestamp.IsZero()
	}
	return end, nil
}

// deletes tells whether somebody wants a CustomResourceDefinition deleted although it has custom resources.
func (e *ending) deletes(crd string) bool {
	if revision.DeletesCRD(e.set, crd) || e.ext != nil && revision.DeletesCRD(e.ext, crd) {
		return true
	}
	return e.ext != nil && !e.leaving && revision.RemovalExempt(e.ext, crd)
}

// keptOf is for whom a definition is kept. While the extension stays, a later revision of it may take the definition over; otherwise only the
// next extension of its name may, not what is left of this one.
func (e *ending) keptOf(f *family) string {
	name, uid := revision.ExtensionOf(f.set)
	switch {
	case uid == "":
		return ""
	case e.leaving:
		return revision.KeptOf(name, uid)
	}
	return revision.KeptOf(name, f.set.UID)
}
