package clusterextension

import (
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const reached = "Desired state reached"

// progressing says what is worked on, what is in the way, or that there is nothing left to do.
func (v view) progressing() metav1.Condition {
	say := func(status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return olmv1.NewCondition(olmv1.TypeProgressing, status, reason, message)
	}
	o := v.outcome
	switch s := o.stopped(); {
	case s != nil:
		return say(metav1.ConditionFalse, s.Reason, textOf(s)+v.keeps())
	case o.problem != nil:
		return say(metav1.ConditionTrue, olmv1.ReasonRetrying, textOf(o.problem)+v.keeps())
	case o.conflict != nil:
		return say(metav1.ConditionTrue, olmv1.ReasonRetrying, strings.Join(append([]string{o.conflict.Error() + v.keeps()}, o.advice...), "\n"))
	case o.doing != "":
		return say(metav1.ConditionTrue, olmv1.ReasonRollingOut, o.doing)
	}
	r := v.revisions.Newest()
	if o.made != nil {
		r = o.made
	}
	if r == nil {
		return say(metav1.ConditionTrue, olmv1.ReasonRetrying, "there is no revision yet")
	}
	c := meta.FindStatusCondition(r.Status.Conditions, olmv1.TypeProgressing)
	switch {
	case c == nil:
		return say(metav1.ConditionTrue, olmv1.ReasonRollingOut, fmt.Sprintf("Revision %s is rolling out.", r.Annotations[olmv1.BundleVersionKey]))
	case c.Status == metav1.ConditionTrue && c.Reason == olmv1.ReasonSucceeded:
		return say(metav1.ConditionTrue, olmv1.ReasonSucceeded, strings.Join(slices.Concat([]string{reached}, o.unmet, o.notes, o.leftOut, o.advice), "\n"))
	}
	return say(c.Status, c.Reason, c.Message)
}

// textOf is the text of a problem, the same for the same problem. One that explains itself in several lines is told in full.
func textOf(err error) string {
	if text := err.Error(); strings.Contains(text, "\n") {
		return text
	}
	return messages.Error(err)
}

// keeps says what goes on working in spite of a problem.
func (v view) keeps() string {
	r := v.revisions.Installed()
	if r == nil {
		return ""
	}
	return fmt.Sprintf("\nbundle %s stays installed and is looked after meanwhile", r.Annotations[olmv1.BundleNameKey])
}
