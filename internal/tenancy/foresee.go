package tenancy

import (
	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Misfit is why an operator that is yet to be installed could not run as a member of a group.
type Misfit struct {
	// Reason is what is in the way.
	Reason string
	// Advice is the group that would do; empty where the reason says what to do.
	Advice string
	// Fails is set where the operator would not wait for another group, but be installed and fail.
	Fails bool
}

// Foresee judges an operator that is yet to be installed as a member of a group: the targets of the group, and which groups provide its APIs already, in
// the order in which both are judged of one that is there. It returns nil where nothing is in the way. Among the others may be groups that have nothing
// to do with these APIs, and the group itself.
func Foresee(csv *v1alpha1.ClusterServiceVersion, group *v1.OperatorGroup, others []*v1.OperatorGroup) *Misfit {
	if missing := Supports(csv, group); missing != nil {
		return &Misfit{Reason: missing.Error(), Advice: Advice(csv, group.Namespace, group.Name)}
	}
	if v := Judge(Member{ClusterServiceVersion: csv, Claim: APIs{}}, group, others); v.Reason != "" {
		return &Misfit{Reason: v.Detail, Fails: true}
	}
	return nil
}
