package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions that GitOps tools and kstatus read. Ready is always there. Reconciling and Stalled are there while they are True, one of the two at
// most: kstatus takes a condition that is absent for one that is False.
const (
	TypeReady       = "Ready"
	TypeReconciling = "Reconciling"
	TypeStalled     = "Stalled"
)

// VerdictTypes are the types of the conditions that a Verdict makes.
var VerdictTypes = []string{TypeReady, TypeReconciling, TypeStalled}

// Unobserved is the status.observedGeneration of an object that no controller has observed. The CustomResourceDefinitions have it as their default.
const Unobserved = -1

// Verdict is what a controller knows of what an object asks for, in the generation that it has observed. The functions below make one, and Conditions
// alone turns it into conditions. The zero value is in progress.
type Verdict struct {
	outcome         verdictOutcome
	Reason, Message string
}

type verdictOutcome string

const (
	verdictDone       verdictOutcome = "done"
	verdictInProgress verdictOutcome = "in progress"
	verdictUnknown    verdictOutcome = "unknown"
	verdictStalled    verdictOutcome = "stalled"
	verdictHeld       verdictOutcome = "held"
)

// Done is the verdict that what was asked for runs.
func Done(reason, message string) Verdict { return Verdict{verdictDone, reason, message} }

// Progressing is the verdict that the controller gets on with what was asked for, or tries again, or waits for another object, which may still come.
func Progressing(reason, message string) Verdict { return Verdict{verdictInProgress, reason, message} }

// Unknown is Progressing where it is not known whether what was asked for runs.
func Unknown(reason, message string) Verdict { return Verdict{verdictUnknown, reason, message} }

// Stalled is the verdict that trying again does not help: a user has to change this object, or what it refers to.
func Stalled(reason, message string) Verdict { return Verdict{verdictStalled, reason, message} }

// Held is the verdict that a person has kept the decision to go on to themselves, such as an approval. Nothing has failed, and nothing is done.
func Held(reason, message string) Verdict { return Verdict{verdictHeld, reason, message} }

// Conditions are the conditions that a verdict makes. Those of VerdictTypes that are not among them do not hold.
func (v Verdict) Conditions() []metav1.Condition {
	condition := func(kind string, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: v.Reason, Message: v.Message}
	}
	switch v.outcome {
	case verdictDone:
		return []metav1.Condition{condition(TypeReady, metav1.ConditionTrue)}
	case verdictStalled:
		return []metav1.Condition{condition(TypeReady, metav1.ConditionFalse), condition(TypeStalled, metav1.ConditionTrue)}
	case verdictHeld:
		return []metav1.Condition{condition(TypeReady, metav1.ConditionFalse)}
	case verdictUnknown:
		return []metav1.Condition{condition(TypeReady, metav1.ConditionUnknown), condition(TypeReconciling, metav1.ConditionTrue)}
	}
	return []metav1.Condition{condition(TypeReady, metav1.ConditionFalse), condition(TypeReconciling, metav1.ConditionTrue)}
}

// Set makes conditions say what a verdict says of a generation of an object, and nothing else of VerdictTypes. The time of a transition is now where the
// status of a condition is new.
func (v Verdict) Set(conditions *[]metav1.Condition, generation int64, now metav1.Time) {
	holds := v.Conditions()
	for _, kind := range VerdictTypes {
		if !slices.ContainsFunc(holds, func(c metav1.Condition) bool { return c.Type == kind }) {
			meta.RemoveStatusCondition(conditions, kind)
		}
	}
	for _, c := range holds {
		c.ObservedGeneration, c.LastTransitionTime = generation, now
		meta.SetStatusCondition(conditions, c)
	}
}
