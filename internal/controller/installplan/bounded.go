package installplan

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// maxMessage bounds a message of a plan in bytes, and maxLookupMessage one of each bundle, of which a plan may have many.
	maxMessage       = 8 << 10
	maxLookupMessage = 1 << 10
	// notWrittenReason is that of the Event about a plan whose status does not fit into it.
	notWrittenReason = "StatusNotWritten"
)

// bounded shortens the messages of a status: no message makes a plan larger than resolution.MaxPlanContent leaves room for.
func bounded(s planStatus) planStatus {
	s = *s.DeepCopy()
	s.Message = cut(s.Message, maxMessage)
	for i := range s.Conditions {
		s.Conditions[i].Message = cut(s.Conditions[i].Message, maxMessage)
	}
	for i := range s.BundleLookups {
		for j := range s.BundleLookups[i].Conditions {
			s.BundleLookups[i].Conditions[j].Message = cut(s.BundleLookups[i].Conditions[j].Message, maxLookupMessage)
		}
	}
	return s
}

// cut shortens a text to a limit in bytes. What was cut before stays as it is.
func cut(text string, limit int) string {
	const more = "..."
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(more)], "") + more
}

// unreportable reports a status that the API server does not take because the plan is too large with it, as one that another program filled may be:
// an Event has the room that the plan has not, and another attempt would come to the same.
func (c *Controller) unreportable(plan *v1alpha1.InstallPlan, next planStatus, err error) error {
	if !rollout.IsTooLarge(err) {
		return err
	}
	c.events.Event(plan, corev1.EventTypeWarning, notWrittenReason, cut(fmt.Sprintf("the InstallPlan is too large for its status to be written: "+
		"delete it to have a smaller one made; the status is %s: %s", next.Phase, next.Message), maxLookupMessage))
	return reconcile.TerminalError(err)
}
