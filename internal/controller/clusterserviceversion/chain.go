package clusterserviceversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
)

// chain answers questions about replacements among the ClusterServiceVersions of a namespace, copies left out.
type chain struct {
	byName    map[string]*v1alpha1.ClusterServiceVersion
	replacing map[string][]*v1alpha1.ClusterServiceVersion // by the name of what is replaced: what is installed first, then the newest
}

func newChain(csvs []*v1alpha1.ClusterServiceVersion) *chain {
	c := &chain{byName: map[string]*v1alpha1.ClusterServiceVersion{}, replacing: map[string][]*v1alpha1.ClusterServiceVersion{}}
	for _, csv := range csvs {
		c.byName[csv.Name] = csv
		if csv.Spec.Replaces != "" && csv.Spec.Replaces != csv.Name {
			c.replacing[csv.Spec.Replaces] = append(c.replacing[csv.Spec.Replaces], csv)
		}
	}
	for _, list := range c.replacing {
		slices.SortFunc(list, func(a, b *v1alpha1.ClusterServiceVersion) int {
			return cmp.Or(boolean(installs(b))-boolean(installs(a)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
	}
	return c
}

// successor is the CSV that replaces the named one: if there are several, one whose install has begun, else the newest. One that is being deleted does
// not count, and neither does one that the named CSV replaces in its turn.
func (c *chain) successor(name string) *v1alpha1.ClusterServiceVersion {
	for _, csv := range c.replacing[name] {
		if csv.DeletionTimestamp.IsZero() && !c.replaces(name, csv.Name) {
			return csv
		}
	}
	return nil
}

// last is the end of the chain of successors; nil when there is none.
func (c *chain) last(name string) *v1alpha1.ClusterServiceVersion {
	var end *v1alpha1.ClusterServiceVersion
	for next := c.successor(name); next != nil; next = c.successor(next.Name) {
		end = next
	}
	return end
}

// predecessor is the CSV that the named one replaces, if it is there and does not replace the named one in its turn.
func (c *chain) predecessor(name string) *v1alpha1.ClusterServiceVersion {
	csv, ok := c.byName[name]
	if !ok || csv.Spec.Replaces == name {
		return nil
	}
	old, ok := c.byName[csv.Spec.Replaces]
	if !ok || c.replaces(old.Name, name) {
		return nil
	}
	return old
}

// replaces says whether newer replaces older, over any number of steps.
func (c *chain) replaces(newer, older string) bool {
	been := map[string]bool{}
	for at := c.byName[newer]; at != nil && !been[at.Name]; at = c.byName[at.Spec.Replaces] {
		been[at.Name] = true
		if at.Spec.Replaces == older && at.Name != older {
			return true
		}
	}
	return false
}

// related says whether one of two CSVs replaces the other.
func (c *chain) related(a, b string) bool { return c.replaces(a, b) || c.replaces(b, a) }

// listSiblings reads the CSVs of the namespace, this one among them and copies not. They belong to the cache.
func (f *facts) listSiblings(ctx context.Context) ([]*v1alpha1.ClusterServiceVersion, error) {
	if f.siblings != nil {
		return f.siblings, nil
	}
	var list v1alpha1.ClusterServiceVersionList
	if err := f.c.client.List(ctx, &list, client.InNamespace(f.csv.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions of namespace %s: %w", f.csv.Namespace, err)
	}
	for i := range list.Items {
		if csv := &list.Items[i]; !csv.IsCopied() {
			f.siblings = append(f.siblings, csv)
		}
	}
	return f.siblings, nil
}

func (f *facts) chain(ctx context.Context) (*chain, error) {
	siblings, err := f.listSiblings(ctx)
	if err != nil {
		return nil, err
	}
	return newChain(siblings), nil
}

func (f *facts) replaced(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	if next := chain.successor(f.csv.Name); next != nil {
		return seen(next.Name), nil
	}
	return seenNot, nil
}

// handsOver looks whether another CSV replaces this one and may: as long as the operator says that it cannot be upgraded, it stays what it
// is, and is healed.
func (f *facts) handsOver(ctx context.Context) (finding, error) {
	found, err := f.replaced(ctx)
	if err != nil || !found.holds {
		return seenNot, err
	}
	held, err := f.upgradeHeld(ctx, f.csv.Name)
	if err != nil || held != nil {
		return seenNot, err
	}
	return found, nil
}

// predecessorNotUpgradeable looks whether the operator that is replaced says that it cannot be upgraded now.
func (f *facts) predecessorNotUpgradeable(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	old := chain.predecessor(f.csv.Name)
	if old == nil || !old.DeletionTimestamp.IsZero() {
		return seenNot, nil
	}
	held, err := f.upgradeHeld(ctx, old.Name)
	if err != nil || held == nil {
		return seenNot, err
	}
	return seen(held.Error()), nil
}

// upgradeHeld is why the operator of a CSV must not be upgraded now, as its OperatorCondition says; nil when it may be.
func (f *facts) upgradeHeld(ctx context.Context, name string) (held, err error) {
	condition := &v2.OperatorCondition{}
	err = f.c.client.Get(ctx, key(f.csv.Namespace, name), condition)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read OperatorCondition %s/%s: %w", f.csv.Namespace, name, err)
	}
	return condition.CheckUpgradeable(), nil
}

// failForwardReplaced looks whether a failed CSV is passed over. One whose upgrade is held is not: the next version waits for it, so that
// nothing would run at all.
func (f *facts) failForwardReplaced(ctx context.Context) (finding, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil || !group.FailForward() {
		return seenNot, err
	}
	return f.handsOver(ctx)
}

// predecessorHolds looks whether the version that is replaced has handed over.
func (f *facts) predecessorHolds(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	old := chain.predecessor(f.csv.Name)
	if old == nil || !old.DeletionTimestamp.IsZero() {
		return seenNot, nil
	}
	if next := chain.successor(old.Name); next != nil && next.Name != f.csv.Name {
		return seen(fmt.Sprintf("ClusterServiceVersion %s, which replaces %s too, to be deleted, or to replace or be replaced by this one", next.Name, old.Name)), nil
	}
	if old.Status.Phase == toReplacing || old.Status.Phase == toDeleting {
		return seenNot, nil
	}
	return seen(fmt.Sprintf("ClusterServiceVersion %s, now %s, to hand over: it does once it has succeeded", old.Name, cmp.Or(old.Status.Phase, "not reconciled yet"))), nil
}

func (f *facts) predecessorExists(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	if old := chain.predecessor(f.csv.Name); old != nil {
		return seen(fmt.Sprintf("ClusterServiceVersion %s, which this one replaces, to be deleted first", old.Name)), nil
	}
	return seenNot, nil
}

// successorInstalled looks at the next version, or at the last one when failed versions may be passed over. A next
// version that is being replaced already was installed before.
func (f *facts) successorInstalled(ctx context.Context) (finding, error) {
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	group, err := f.group(ctx)
	if err != nil {
		return seenNot, err
	}
	next := chain.successor(f.csv.Name)
	installed := []phase{toSucceeded, toReplacing, toDeleting}
	if group != nil && group.FailForward() {
		next, installed = chain.last(f.csv.Name), []phase{toSucceeded}
	}
	if next == nil || !slices.Contains(installed, next.Status.Phase) {
		return seenNot, nil
	}
	return seen(next.Name), nil
}

func (f *facts) successorMissing(ctx context.Context) (finding, error) {
	found, err := f.replaced(ctx)
	if err != nil || found.holds {
		return seenNot, err
	}
	return seen(fmt.Sprintf("no ClusterServiceVersion replaces this one any more: create one with spec.replaces %s, or delete this one", f.csv.Name)), nil
}

// outgrown reports whether a CRD no longer serves a version that this CSV needs, because a CSV that replaces it has brought the CRD in another one. The
// requirement is never met again, so this CSV hands over although it does not run.
func (f *facts) outgrown(ctx context.Context) (finding, error) {
	found, err := f.handsOver(ctx)
	if err != nil || !found.holds {
		return seenNot, err
	}
	chain, err := f.chain(ctx)
	if err != nil {
		return seenNot, err
	}
	for _, needed := range f.csv.AllCRDs() {
		crd, err := f.readCRD(ctx, needed.Name)
		if err != nil {
			return seenNot, err
		}
		if crd == nil || served(crd, needed.Version) {
			continue
		}
		for next := chain.successor(f.csv.Name); next != nil; next = chain.successor(next.Name) {
			if slices.ContainsFunc(next.Spec.CustomResourceDefinitions.Owned, func(d v1alpha1.CRDDescription) bool { return d.Name == crd.Name && served(crd, d.Version) }) {
				return found, nil
			}
		}
	}
	return seenNot, nil
}
