package rollout

import (
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Holder is an owner of a live object, as its metadata names it.
type Holder struct {
	metav1.OwnerReference
	Namespace string
	// Labelled is whether labels name it, which any client can write, and no owner reference. Then it has a kind and a name alone.
	Labelled bool
}

// IsOperator reports whether the holder is a ClusterServiceVersion.
func (h Holder) IsOperator() bool {
	gv, err := schema.ParseGroupVersion(h.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && h.Kind == v1alpha1.ClusterServiceVersionKind
}

// Holders are the controller of a live object and the ClusterServiceVersions that own it, by references and then by labels.
func Holders(live metav1.Object) []Holder {
	var all []Holder
	for _, r := range live.GetOwnerReferences() {
		if h := (Holder{OwnerReference: r, Namespace: live.GetNamespace()}); h.IsOperator() || r.Controller != nil && *r.Controller {
			all = append(all, h)
		}
	}
	if labels := live.GetLabels(); labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind {
		all = append(all, Holder{Namespace: labels[v1alpha1.OwnerNamespaceLabel], Labelled: true, OwnerReference: metav1.OwnerReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: labels[v1alpha1.OwnerLabel]}})
	}
	return all
}

// References are all owners of a live object by reference.
func References(live metav1.Object) []Holder {
	var all []Holder
	for _, r := range live.GetOwnerReferences() {
		all = append(all, Holder{OwnerReference: r, Namespace: live.GetNamespace()})
	}
	return all
}

// Relation is what a holder is to the owner that desires the object.
type Relation int

const (
	// Foreign holders keep the object.
	Foreign Relation = iota
	// Own is the desiring owner itself, or one that it takes the place of.
	Own
	// Absent holders do not exist any more.
	Absent
	// Successor takes the place of the desiring owner: the object is left to it.
	Successor
)

// Verdict is what a claim on a live object comes to.
type Verdict int

const (
	// Granted objects may be written.
	Granted Verdict = iota
	// Refused objects belong to another owner, or may do so.
	Refused
	// Ceded objects belong to a successor, which writes them.
	Ceded
)

// Ownership is the verdict on a claim. The reason of a refusal continues a sentence about the object, e.g. `is controlled by Deployment web`; it is
// empty for other verdicts.
type Ownership struct {
	Verdict Verdict
	Reason  string
}

// ClaimRules are those of one kind of owner. They are asked about what the cluster has at the time.
type ClaimRules struct {
	// Relate reports what a holder is to the owner, and why the claim is refused where it is Foreign.
	Relate func(Holder) (Relation, string)
	// Unowned is why an object without holders is not adopted; empty adopts it.
	Unowned func(metav1.Object) string
	// Shared objects may have several owners: one reference to an Own holder is enough.
	Shared bool
}

// Judge decides whether a live object may be written by the owner whose rules these are. A foreign controller counts before other holders, and a
// reference before a label, whatever their order.
func (r ClaimRules) Judge(live metav1.Object, holders []Holder) Ownership {
	if len(holders) == 0 {
		if reason := r.Unowned(live); reason != "" {
			return Ownership{Refused, reason}
		}
	}
	verdict := Ownership{}
	for _, h := range holders {
		if h.Labelled && verdict.Verdict == Refused {
			break
		}
		switch relation, reason := r.Relate(h); {
		case relation == Own && r.Shared && !h.Labelled:
			return Ownership{}
		case relation == Successor && verdict.Verdict == Granted:
			verdict.Verdict = Ceded
		case relation == Foreign && (verdict.Verdict != Refused || h.Controller != nil && *h.Controller):
			verdict = Ownership{Refused, reason}
		}
	}
	return verdict
}

// ControlledBy is the reason of a refusal for an object that a holder controls.
func ControlledBy(h Holder) string { return fmt.Sprintf("is controlled by %s %s", h.Kind, h.Name) }

// Unmarked is why operators do not adopt an object without owner; empty for one that has the label of those that they may adopt.
func Unmarked(live metav1.Object) string {
	if live.GetLabels()[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue {
		return ""
	}
	return unmarked
}

// unmarked is a reason that has its own remedy.
const unmarked = "exists, and nothing says that it belongs to an operator: delete or rename it, or let operators have it by giving it the label " +
	v1alpha1.ManagedLabel + "=" + v1alpha1.ManagedLabelValue
