package clusterobjectset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// contents are what sets consist of.
type contents struct {
	*environment
	identities *identities
	cache      revision.Memory
}

// load reads the phases that have to be checked, by their indexes, and makes sure that they are what they were when they were first seen.
func (l *contents) load(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes) (map[int]revision.Phase, error) {
	first := known.phases == nil
	if len(set.Status.ObservedPhases) == 0 && readAsManager(set) {
		// Make the Secrets of the revision go with it. Those that are not the manager's are their authors' to keep.
		if err := revision.Own(ctx, l.live, l.client, set, l.namespace); err != nil {
			return nil, err
		}
	}
	loader, err := l.loader(ctx, set)
	if err != nil {
		return nil, err
	}
	content := map[int]revision.Phase{}
	var all []revision.Phase
	for i := range set.Spec.Phases {
		if !first && !slices.ContainsFunc(known.phases[i], func(e entry) bool { return e.version == "" }) {
			continue
		}
		p, err := loader.Phase(ctx, i)
		if err != nil {
			return nil, unread(set, err)
		}
		content[i] = p
		all = append(all, p)
	}
	if err := unaltered(set, all); err != nil {
		return nil, err
	}
	if first {
		if err := revision.Unique(all); err != nil {
			return nil, err
		}
		known.learn(all, loader.Versions)
	}
	return content, nil
}

// read reads all phases of a set, and the versions of the Secrets that they are in.
func (l *contents) read(ctx context.Context, set *olmv1.ClusterObjectSet) ([]revision.Phase, map[types.NamespacedName]string, error) {
	loader, err := l.loader(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	all := make([]revision.Phase, len(set.Spec.Phases))
	for i := range all {
		if all[i], err = loader.Phase(ctx, i); err != nil {
			return nil, nil, unread(set, err)
		}
	}
	return all, loader.Versions, unaltered(set, all)
}

// loader reads the Secrets of a set. What was read before, and has not changed since, is not asked for again. A user who may make sets for an account would
// otherwise learn what is in Secrets that the account may not read, or whether they are there. What has been read as the account is read once more by
// the manager when the set goes: the account may be gone by then, and the digests see to it that it is the same.
func (l *contents) loader(ctx context.Context, set *olmv1.ClusterObjectSet) (*revision.Loader, error) {
	reader := l.live
	if !readAsManager(set) && (revision.Active(set) || len(set.Status.ObservedPhases) == 0) {
		var err error
		if reader, err = l.identities.writer(ctx, set); err != nil {
			return nil, err
		}
	}
	loader := revision.NewLoader(reader, set, l.namespace)
	loader.Memory, loader.Current = &l.cache, l.watches.secret
	return loader, nil
}

// unaltered refuses phases that are not what was first seen.
func unaltered(set *olmv1.ClusterObjectSet, phases []revision.Phase) error {
	if len(set.Status.ObservedPhases) == 0 {
		return nil
	}
	var altered []string
	for _, p := range phases {
		digest := revision.PhaseDigest(p)
		i := slices.IndexFunc(set.Status.ObservedPhases, func(o olmv1.ObservedPhase) bool { return o.Name == p.Name })
		switch {
		case i < 0:
			altered = append(altered, fmt.Sprintf("phase %q (it was not there before)", p.Name))
		case set.Status.ObservedPhases[i].Digest != digest:
			altered = append(altered, fmt.Sprintf("phase %q (its digest was %s and is %s)", p.Name, set.Status.ObservedPhases[i].Digest, digest))
		}
	}
	if len(altered) == 0 {
		return nil
	}
	return &revision.BlockedError{Message: fmt.Sprintf("resolved content of %d phase(s) has changed: %s; "+
		"put back the Secrets that the revision refers to as they were when it was first seen, or make a new revision", len(altered), strings.Join(altered, ", "))}
}

// observe records the digests of the phases before anything of them is applied. It returns false when the set has changed since it was read.
func (r *reporter) record(ctx context.Context, set *olmv1.ClusterObjectSet, content map[int]revision.Phase) (done bool, _ error) {
	if len(set.Status.ObservedPhases) > 0 || len(set.Spec.Phases) == 0 {
		return true, nil
	}
	version := set.ResourceVersion
	now := r.clock.Now()
	err := r.report(ctx, set, func(set *olmv1.ClusterObjectSet) {
		if len(set.Status.ObservedPhases) > 0 {
			return // the cache does not show it yet
		}
		for i := range set.Spec.Phases {
			set.Status.ObservedPhases = append(set.Status.ObservedPhases, olmv1.ObservedPhase{Name: content[i].Name, Digest: revision.PhaseDigest(content[i])})
		}
		reportRollout(set, outcome{}, now)
	})
	return err == nil && set.ResourceVersion != version, err
}

// refused are the definitions of the manager itself, which no revision may have, no matter who wrote it and whatever collision protection it has: they
// would go with the revision, and all extensions with them.
func refused(content map[int]revision.Phase) error {
	for _, i := range slices.Sorted(maps.Keys(content)) {
		for _, o := range content[i].Objects {
			if o.GroupVersionKind().GroupKind() != crdKind.GroupKind() {
				continue
			}
			if err := bundle.CheckCRDName(o.GetName()); err != nil {
				return &revision.BlockedError{Message: err.Error()}
			}
		}
	}
	return nil
}
