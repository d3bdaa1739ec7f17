package clusterserviceversion

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle"
)

// chain answers questions about replacements among the ClusterServiceVersions of a namespace, copies left out.
type chain struct {
	csv       *v1alpha1.ClusterServiceVersion // that a pass is about
	all       []*v1alpha1.ClusterServiceVersion
	byName    map[string]*v1alpha1.ClusterServiceVersion
	replacing map[string][]*v1alpha1.ClusterServiceVersion // by the name of what is replaced: what is installed first, then the newest
	pinned    map[string]error                             // why operators must not be upgraded now, by the name of the CSV
}

// chain reads the CSVs of the namespace, which belong to the cache, and the OperatorConditions of those that may hand over.
func (s *snapshot) chain(ctx context.Context) (*chain, error) {
	return s.chainRead.get(func() (*chain, error) {
		var all v1alpha1.ClusterServiceVersionList
		if err := list(ctx, s.cache, &all, "the ClusterServiceVersions of namespace "+s.csv.Namespace, client.InNamespace(s.csv.Namespace)); err != nil {
			return nil, err
		}
		var csvs []*v1alpha1.ClusterServiceVersion
		for i := range all.Items {
			if !all.Items[i].IsCopied() {
				csvs = append(csvs, &all.Items[i])
			}
		}
		c := newChain(csvs)
		c.csv, c.pinned = s.csv, map[string]error{}
		var ask []string
		if c.successor(s.csv.Name) != nil {
			ask = append(ask, s.csv.Name)
		}
		if old := c.predecessor(s.csv.Name); old != nil {
			ask = append(ask, old.Name)
		}
		for _, name := range ask {
			condition, err := read[*v2.OperatorCondition](ctx, s.cache, key(s.csv.Namespace, name))
			if err != nil {
				return nil, err
			}
			if condition != nil {
				c.pinned[name] = condition.CheckUpgradeable()
			}
		}
		return c, nil
	})
}

func newChain(csvs []*v1alpha1.ClusterServiceVersion) *chain {
	c := &chain{all: csvs, byName: map[string]*v1alpha1.ClusterServiceVersion{}, replacing: map[string][]*v1alpha1.ClusterServiceVersion{}}
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

// successors are the chain of those that replace the named one, the next first.
func (c *chain) successors(name string) []*v1alpha1.ClusterServiceVersion {
	var out []*v1alpha1.ClusterServiceVersion
	for next := c.successor(name); next != nil; next = c.successor(next.Name) {
		out = append(out, next)
	}
	return out
}

// last is the end of the chain of successors; nil when there is none.
func (c *chain) last(name string) *v1alpha1.ClusterServiceVersion {
	if all := c.successors(name); len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
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

// replaces reports whether newer replaces older, over any number of steps.
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

// related reports whether one of two CSVs replaces the other.
func (c *chain) related(a, b string) bool { return c.replaces(a, b) || c.replaces(b, a) }

// yields reports whether the CSV of a name is this one, one that it replaces or is replaced by, or gone.
func (c *chain) yields(name string) bool {
	other := c.byName[name]
	return name == c.csv.Name || other == nil || !other.DeletionTimestamp.IsZero() || c.related(name, c.csv.Name)
}

func (c *chain) replaced() finding {
	if next := c.successor(c.csv.Name); next != nil {
		return seen(next.Name)
	}
	return seenNot
}

// handsOver reports whether another CSV replaces this one and may: as long as the operator reports that it cannot be upgraded, it stays what it
// is, and its drift is corrected.
func (c *chain) handsOver() finding {
	if c.pinned[c.csv.Name] != nil {
		return seenNot
	}
	return c.replaced()
}

// predecessorPinned reports that the operator that is replaced reports that it cannot be upgraded now.
func (c *chain) predecessorPinned() finding {
	old := c.predecessor(c.csv.Name)
	if old == nil || !old.DeletionTimestamp.IsZero() || c.pinned[old.Name] == nil {
		return seenNot
	}
	return seen(c.pinned[old.Name].Error())
}

// predecessorHolds reports that the version that is replaced has not handed over.
func (c *chain) predecessorHolds() finding {
	old := c.predecessor(c.csv.Name)
	if old == nil || !old.DeletionTimestamp.IsZero() {
		return seenNot
	}
	if next := c.successor(old.Name); next != nil && next.Name != c.csv.Name {
		return seen(fmt.Sprintf("ClusterServiceVersion %s, which replaces %s too, to be deleted, or to replace or be replaced by this one", next.Name, old.Name))
	}
	if old.Status.Phase == toReplacing || old.Status.Phase == toDeleting {
		return seenNot
	}
	return seen(fmt.Sprintf("ClusterServiceVersion %s, now %s, to hand over: it does once it has succeeded", old.Name, cmp.Or(old.Status.Phase, "not reconciled yet")))
}

func (c *chain) predecessorExists() finding {
	if old := c.predecessor(c.csv.Name); old != nil {
		return seen(fmt.Sprintf("ClusterServiceVersion %s, which this one replaces, to be deleted first", old.Name))
	}
	return seenNot
}

// successorInstalled judges the next version, or the last one where failed versions may be passed over. A next version that is being replaced already
// was installed before.
func (c *chain) successorInstalled(failsForward bool) *v1alpha1.ClusterServiceVersion {
	next, installed := c.successor(c.csv.Name), in(toSucceeded, toReplacing, toDeleting)
	if failsForward {
		next, installed = c.last(c.csv.Name), in(toSucceeded)
	}
	if next == nil || !slices.Contains(installed, next.Status.Phase) {
		return nil
	}
	return next
}

func (c *chain) successorMissing() finding {
	if c.successor(c.csv.Name) != nil {
		return seenNot
	}
	return seen(fmt.Sprintf("no ClusterServiceVersion replaces this one any more: create one with spec.replaces %s, or delete this one", c.csv.Name))
}

// handoverDelay is how long the servers of a version stay after another one has adopted what leads to them. API servers hear a moment later where
// requests lead now, and those that are under way go where they led before.
const handoverDelay = 10 * time.Second

// requestsUnderWay returns until when requests may still lead to this version, because the next one, which has succeeded, answers elsewhere and has done
// so for a short while only. Zero is none.
func (c *chain) requestsUnderWay(next *v1alpha1.ClusterServiceVersion, now time.Time) time.Time {
	elsewhere := slices.ContainsFunc(bundle.ServingDeployments(c.csv), func(deployment string) bool {
		return !slices.Contains(bundle.ServingDeployments(next), deployment)
	})
	since := next.Status.LastTransitionTime
	if !elsewhere || since == nil || now.Sub(since.Time) >= handoverDelay {
		return time.Time{}
	}
	return since.Add(handoverDelay)
}

// outgrown reports whether a CRD no longer serves a version that this CSV needs, because a CSV that replaces it has brought the CRD in another one. The
// requirement is never met again, so this CSV hands over although it does not run.
func (c *chain) outgrown(crds map[string]*apiextensionsv1.CustomResourceDefinition) finding {
	for _, needed := range c.csv.AllCRDs() {
		crd := crds[needed.Name]
		if crd == nil || served(crd, needed.Version) {
			continue
		}
		for _, next := range c.successors(c.csv.Name) {
			if slices.ContainsFunc(next.Spec.CustomResourceDefinitions.Owned, func(d v1alpha1.CRDDescription) bool { return d.Name == crd.Name && served(crd, d.Version) }) {
				return c.handsOver()
			}
		}
	}
	return seenNot
}

// installBegan reports whether the install of one of the CSVs that replace this one, over any number of steps, has begun, and whether that of each which
// has begun was refused, and waits for a change.
func (c *chain) installBegan() (began, refused bool) {
	refused = true
	for _, next := range c.successors(c.csv.Name) {
		if wasInstalled(next) {
			began = true
			refused = refused && next.Status.Phase == toFailed && next.Status.Reason == v1alpha1.CSVReasonComponentFailedNoRetry
		}
	}
	return began, refused
}

// crdConflict looks for another CSV of the namespace, outside the chain of replacements, that owns a CRD of this one and comes
// before it. The other one does not consider this one then, and its drift is corrected as before.
func (c *chain) crdConflict() finding {
	for _, owned := range c.csv.Spec.CustomResourceDefinitions.Owned {
		for _, other := range c.all {
			if other.Name != c.csv.Name && other.DeletionTimestamp.IsZero() && other.OwnsCRD(owned.Name) && !c.related(other.Name, c.csv.Name) && precedes(other, c.csv) {
				return seen(fmt.Sprintf("ClusterServiceVersion %s owns CRD %s too; delete one of the two, or let one replace the other", other.Name, owned.Name))
			}
		}
	}
	return seenNot
}

// deploymentsForeign looks for a Deployment of this CSV that is one of another CSV already, outside the chain of replacements.
// Each of the two would take it from the other for ever.
func (c *chain) deploymentsForeign(live map[string]*appsv1.Deployment) finding {
	for _, d := range c.csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		if live[d.Name] == nil {
			continue
		}
		if owner, ok := ownerOf(live[d.Name]); ok && owner.Namespace == c.csv.Namespace && !c.yields(owner.Name) {
			return seen(fmt.Sprintf("Deployment %s is one of ClusterServiceVersion %s; delete one of the two, or let one replace the other", d.Name, owner.Name))
		}
	}
	return seenNot
}

// precedes reports which of two CSVs that own the same is to have it: the one that is installed, so that no newcomer takes
// it away; else the one that was created first. One that was refused for such a reason has nothing.
func precedes(a, b *v1alpha1.ClusterServiceVersion) bool {
	if refusedOwnership(a) {
		return false
	}
	return cmp.Or(boolean(wasInstalled(b))-boolean(wasInstalled(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}

func refusedOwnership(csv *v1alpha1.ClusterServiceVersion) bool {
	return csv.Status.Phase == toFailed && csv.Status.Reason == v1alpha1.CSVReasonOwnerConflict
}

// wasInstalled reports whether the install of a CSV has begun at some time, and nothing has refused it since.
func wasInstalled(csv *v1alpha1.ClusterServiceVersion) bool {
	return !refusedOwnership(csv) && (installs(csv) || slices.ContainsFunc(csv.Status.Conditions, func(c v1alpha1.ClusterServiceVersionCondition) bool {
		return slices.Contains(installedPhases, c.Phase)
	}))
}

// installs reports whether a CSV is being installed, or is.
func installs(csv *v1alpha1.ClusterServiceVersion) bool {
	return slices.Contains(installedPhases, csv.Status.Phase)
}

// installedPhases are those that a CSV comes to only by its install.
var installedPhases = in(toInstallReady, toInstalling, toSucceeded, toReplacing, toDeleting)

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
