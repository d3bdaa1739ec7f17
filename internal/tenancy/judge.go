package tenancy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Verdict reports whether an operator may provide its APIs in the target namespaces of its group.
type Verdict struct {
	// Reason is why it may not; empty when nothing speaks against it.
	Reason v1alpha1.ConditionReason
	// Awaits is true when the group has yet to list the APIs of the operator.
	Awaits bool
	// Detail is for the message: who is involved, and what to do.
	Detail string
}

// relation is how the APIs of an operator relate to its group and to the groups that reach the same namespaces.
type relation struct {
	mine   APIs
	claim  APIs    // those of them that the operator has a claim to, see ClaimedBy
	listed bool    // the group lists these, or, where it is static, all of them
	rivals []rival // groups that list some of them too
}

// rival is a group that provides some of the same APIs in some of the same namespaces.
type rival struct {
	group      *v1.OperatorGroup
	apis       APIs
	namespaces Namespaces
}

// Member is an operator of a group, with the APIs that it has a claim to.
type Member struct {
	*v1alpha1.ClusterServiceVersion
	Claim APIs
}

// Judge compares the APIs of a member of a group with what the groups of the cluster list. Among the others may be groups
// that have nothing to do with these APIs, and the group itself. A member without a claim may be installed where no other group lists its
// APIs, and has one when it runs.
func Judge(member Member, group *v1.OperatorGroup, others []*v1.OperatorGroup) Verdict {
	r := relate(member, group, others)
	static := group.Spec.StaticProvidedAPIs
	switch {
	case r.mayStay(group):
		return Verdict{}
	case static && (r.listed || len(r.rivals) == 0):
		return Verdict{Reason: v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs, Detail: r.static(group)}
	case len(r.rivals) > 0:
		return Verdict{Reason: v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, Detail: r.conflict(group)}
	default:
		return Verdict{Awaits: true, Detail: fmt.Sprintf("OperatorGroup %s to list %s among its provided APIs", group.Name, listed(sets.List(r.claim)))}
	}
}

// Claim are the APIs that a group provides: those that every member which supports its target namespaces has a claim to, unless a group that
// reaches the same namespaces provides one of its APIs and does not give way. What a static group lists is for its author to say.
func Claim(group *v1.OperatorGroup, members []Member, others []*v1.OperatorGroup) APIs {
	claim := APIs{}
	for _, member := range members {
		if member.IsCopied() || Supports(member.ClusterServiceVersion, group) != nil {
			continue
		}
		r := relate(member, group, others)
		if len(r.rivals) > 0 && !r.mayStay(group) {
			continue
		}
		claim = claim.Union(r.claim)
	}
	return claim
}

func relate(member Member, group *v1.OperatorGroup, others []*v1.OperatorGroup) relation {
	mine := ProvidedBy(member.ClusterServiceVersion)
	r := relation{mine: mine, claim: member.Claim, listed: AnnotatedOn(group).IsSuperset(member.Claim)}
	if group.Spec.StaticProvidedAPIs {
		r.listed = AnnotatedOn(group).IsSuperset(mine)
	}
	if len(mine) == 0 {
		return r
	}
	reach := ReachOf(group)
	for _, other := range others {
		if other.Namespace == group.Namespace && other.Name == group.Name {
			continue
		}
		apis, namespaces := mine.Intersection(AnnotatedOn(other)), reach.Common(ReachOf(other))
		if len(apis) > 0 && len(namespaces) > 0 {
			r.rivals = append(r.rivals, rival{other, apis, namespaces})
		}
	}
	slices.SortFunc(r.rivals, func(a, b rival) int { return precedence(a.group, b.group) })
	return r
}

// mayStay reports whether the group lists the APIs already that the operator has a claim to, and no other group lists one of all its APIs with a better
// right. What a group lists is better than what this one does not.
func (r *relation) mayStay(group *v1.OperatorGroup) bool {
	mine := AnnotatedOn(group)
	return r.listed && !slices.ContainsFunc(r.rivals, func(other rival) bool {
		return !mine.IsSuperset(other.apis) || precedence(group, other.group) > 0 || group.Spec.StaticProvidedAPIs && other.group.Spec.StaticProvidedAPIs
	})
}

// precedence orders groups that list the same API and have come to reach the same namespace: a static group keeps what its
// author says; else the one whose targets have been as they are for longer, so that the one who extends a group does not stop
// the operator of another owner.
func precedence(a, b *v1.OperatorGroup) int {
	static := func(g *v1.OperatorGroup) int {
		if g.Spec.StaticProvidedAPIs {
			return 0
		}
		return 1
	}
	return cmp.Or(
		static(a)-static(b),
		ptr.Deref(a.Status.LastUpdated, metav1.Time{}).Compare(ptr.Deref(b.Status.LastUpdated, metav1.Time{}).Time),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
	)
}

// conflict names both sides of a conflict and the ways out of it.
func (r *relation) conflict(group *v1.OperatorGroup) string {
	other := r.rivals[0]
	text := fmt.Sprintf("OperatorGroup %s/%s provides %s too, and both it and OperatorGroup %s/%s reach %s",
		other.group.Namespace, other.group.Name, listed(sets.List(other.apis)), group.Namespace, group.Name, other.namespaces)
	if n := len(r.rivals) - 1; n > 0 {
		text += fmt.Sprintf(" (so do %d more groups)", n)
	}
	return text + "; give the two groups targets that have no namespace in common (a group always reaches its own), or remove one of the operators"
}

// static says what the author of a static group has to change.
func (r *relation) static(group *v1.OperatorGroup) string {
	const prefix = "OperatorGroup %s/%s has spec.staticProvidedAPIs, so that its annotation %s is left as it is: "
	if len(r.rivals) == 0 {
		missing := strings.Join(sets.List(r.mine.Difference(AnnotatedOn(group))), ",")
		return fmt.Sprintf(prefix+"add %s to it, or set spec.staticProvidedAPIs to false", group.Namespace, group.Name, v1alpha1.ProvidedAPIsAnnotation, missing)
	}
	return fmt.Sprintf(prefix+"%s", group.Namespace, group.Name, v1alpha1.ProvidedAPIsAnnotation, r.conflict(group))
}
