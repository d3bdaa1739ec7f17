package clusterextension

import (
	"cmp"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
)

// revisions are those of an extension, the oldest first.
type revisions []olmv1.ClusterObjectSet

// sorted puts revisions in their order, which those of revision.List are in already.
func sorted(all []olmv1.ClusterObjectSet) revisions {
	slices.SortFunc(all, func(a, b olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return all
}

// installed is the newest active revision that was rolled out once; nil when there is none.
func (r revisions) installed() *olmv1.ClusterObjectSet { return revision.Installed(r) }

// rolling are the active revisions that have never been rolled out, the oldest first.
func (r revisions) rolling() []*olmv1.ClusterObjectSet {
	var all []*olmv1.ClusterObjectSet
	for i := range r {
		if revision.Active(&r[i]) && !meta.IsStatusConditionTrue(r[i].Status.Conditions, olmv1.TypeSucceeded) {
			all = append(all, &r[i])
		}
	}
	return all
}

// newest is the newest active revision, which is what was wanted last; nil when there is none.
func (r revisions) newest() *olmv1.ClusterObjectSet {
	for i := len(r) - 1; i >= 0; i-- {
		if revision.Active(&r[i]) {
			return &r[i]
		}
	}
	return nil
}

// numbered finds a revision by its number, archived ones too; nil when it is not there any more.
func (r revisions) numbered(n int64) *olmv1.ClusterObjectSet {
	for i := range r {
		if r[i].Spec.Revision == n && r[i].DeletionTimestamp.IsZero() {
			return &r[i]
		}
	}
	return nil
}

// next is the number of the revision that would come next.
func (r revisions) next() int64 {
	if len(r) == 0 {
		return 1
	}
	return r[len(r)-1].Spec.Revision + 1
}

// failed tells whether the roll-out of a revision has ended without success.
func failed(r *olmv1.ClusterObjectSet) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeProgressing)
	return c != nil && (c.Reason == olmv1.ReasonProgressDeadlineExceeded || c.Reason == olmv1.ReasonBlocked) &&
		!meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded)
}
