package revision

import (
	"cmp"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/api/meta"
)

// History is the revisions of an extension, the oldest first.
type History []olmv1.ClusterObjectSet

// Sorted puts revisions into the order of a History, which List returns them in.
func Sorted(all []olmv1.ClusterObjectSet) History {
	slices.SortFunc(all, func(a, b olmv1.ClusterObjectSet) int { return cmp.Compare(a.Spec.Revision, b.Spec.Revision) })
	return all
}

// Active reports whether the objects of a revision are maintained.
func Active(set *olmv1.ClusterObjectSet) bool {
	return set.Spec.LifecycleState != olmv1.LifecycleStateArchived && set.DeletionTimestamp.IsZero()
}

// Installed returns the newest active revision that was rolled out once; nil when there is none.
func Installed(all []olmv1.ClusterObjectSet) *olmv1.ClusterObjectSet { return History(all).Installed() }

// Installed returns the newest active revision that was rolled out once; nil when there is none.
func (h History) Installed() *olmv1.ClusterObjectSet {
	return h.last(func(r *olmv1.ClusterObjectSet) bool {
		return Active(r) && meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded)
	})
}

// Newest returns the newest active revision, which is the last desired state; nil when there is none.
func (h History) Newest() *olmv1.ClusterObjectSet { return h.last(Active) }

// Numbered returns the revision of a number, archived ones included; nil when there is none.
func (h History) Numbered(n int64) *olmv1.ClusterObjectSet {
	return h.last(func(r *olmv1.ClusterObjectSet) bool { return r.Spec.Revision == n && r.DeletionTimestamp.IsZero() })
}

func (h History) last(is func(*olmv1.ClusterObjectSet) bool) *olmv1.ClusterObjectSet {
	for i := len(h) - 1; i >= 0; i-- {
		if is(&h[i]) {
			return &h[i]
		}
	}
	return nil
}

// Rolling returns the active revisions that were never rolled out, the oldest first.
func (h History) Rolling() []*olmv1.ClusterObjectSet {
	var all []*olmv1.ClusterObjectSet
	for i := range h {
		if Active(&h[i]) && !meta.IsStatusConditionTrue(h[i].Status.Conditions, olmv1.TypeSucceeded) {
			all = append(all, &h[i])
		}
	}
	return all
}

// Next returns the number of the next revision.
func (h History) Next() int64 {
	if len(h) == 0 {
		return 1
	}
	return h[len(h)-1].Spec.Revision + 1
}

// Failed reports whether the rollout of a revision has ended without success.
func Failed(r *olmv1.ClusterObjectSet) bool {
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeProgressing)
	return c != nil && (c.Reason == olmv1.ReasonProgressDeadlineExceeded || c.Reason == olmv1.ReasonBlocked) &&
		!meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded)
}
