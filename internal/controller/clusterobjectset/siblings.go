package clusterobjectset

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// indexByOwner is the cache index of ClusterObjectSets by the extension that they are revisions of.
const indexByOwner = "clusterobjectset.owner"

// ownerKeys is indexByOwner: the UID of the extension that controls a set. A set without one has no siblings, whatever its labels say.
func ownerKeys(o client.Object) []string {
	if _, uid := revision.ExtensionOf(o); uid != "" {
		return []string{string(uid)}
	}
	return nil
}

// family is a set and the other revisions of its extension.
type family struct {
	set      *olmv1.ClusterObjectSet
	siblings map[types.UID]*olmv1.ClusterObjectSet
}

func (c *Controller) familyOf(ctx context.Context, set *olmv1.ClusterObjectSet) (*family, error) {
	f := &family{set: set, siblings: map[types.UID]*olmv1.ClusterObjectSet{}}
	owner, uid := revision.ExtensionOf(set)
	if uid == "" {
		return f, nil
	}
	var list olmv1.ClusterObjectSetList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByOwner: string(uid)}); err != nil {
		return nil, fmt.Errorf("list the revisions of ClusterExtension %s: %w", owner, err)
	}
	for i := range list.Items {
		if s := &list.Items[i]; s.UID != set.UID {
			f.siblings[s.UID] = s
		}
	}
	return f, nil
}

// older are the active revisions before this one.
func (f *family) older() []*olmv1.ClusterObjectSet {
	var out []*olmv1.ClusterObjectSet
	for _, s := range f.siblings {
		if s.Spec.Revision < f.set.Spec.Revision && revision.Active(s) {
			out = append(out, s)
		}
	}
	return out
}
