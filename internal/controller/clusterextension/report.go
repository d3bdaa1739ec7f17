package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/schedule"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reporter reports the outcome of a pass.
type reporter struct {
	*environment
	observer  *observer
	interests *interests
	status    reconcile.StatusWriter[*olmv1.ClusterExtension, olmv1.ClusterExtensionStatus]
}

// report writes the status when it says something new. Events and metrics follow what was written. The error is that of the pass, which the
// queue repeats.
func (r *reporter) report(ctx context.Context, s *state, o *outcome, failure error) error {
	// Report whether a write failed because something has changed that the caches did not tell of yet: no one has to hear of that.
	var exists *revision.ExistsError
	if apierrors.IsConflict(failure) || apierrors.IsAlreadyExists(failure) || errors.As(failure, &exists) {
		return failure // the next pass sees what this one did not
	}
	if failure != nil && o.problem == nil {
		o.problem = failure
	}
	if !o.waits { // until it is known what the next decision rests on, all events concern it
		r.remember(s, o)
	}
	next := view{ext: s.ext, revisions: s.revisions, outcome: o}.status(r.Clock.Now())
	after, err := r.status.Write(ctx, s.ext, next)
	if err != nil {
		return errors.Join(failure, err)
	}
	r.tell(s.ext, after, o)
	if !o.waits {
		observed := after.DeepCopy()
		observed.Status = next
		r.Metrics.observe(observed, o)
	}
	return failure
}

// eventSource is the component that Events come from.
const eventSource = "clusterextension-controller"

// Reasons of Events, besides those of the condition Progressing.
const (
	eventInstalled = "Installed"
	eventRevision  = "RevisionCreated"
	eventHeld      = "UpgradeHeldBack"
	// eventLeftOut tells that something of catalogs cannot be used which could have changed what is chosen.
	eventLeftOut = "CatalogContentLeftOut"
	// eventUnmet tells that something is gone which the installed bundle needs.
	eventUnmet = "DependencyMissing"
	// eventDependency tells what becomes of extensions that were made for the needs of another one.
	eventDependency = "DependencyRemoved"
)

// tell makes Events of what is new since the status was written last.
func (r *reporter) tell(before, after *olmv1.ClusterExtension, o *outcome) {
	if o.made != nil {
		r.events.Event(after, corev1.EventTypeNormal, eventRevision, fmt.Sprintf("revision %s of bundle %s rolls out", o.made.Name, o.made.Annotations[olmv1.BundleNameKey]))
	}
	if is := after.Status.Install; is != nil && (before.Status.Install == nil || before.Status.Install.Bundle.Name != is.Bundle.Name) {
		r.events.Event(after, corev1.EventTypeNormal, eventInstalled, "bundle "+is.Bundle.Name+" is installed")
	}
	was, is := meta.FindStatusCondition(before.Status.Conditions, olmv1.TypeProgressing), meta.FindStatusCondition(after.Status.Conditions, olmv1.TypeProgressing)
	if is == nil || was != nil && was.Status == is.Status && was.Reason == is.Reason && was.Message == is.Message {
		return
	}
	switch {
	case is.Status == metav1.ConditionFalse || is.Reason == olmv1.ReasonRetrying:
		r.events.Event(after, corev1.EventTypeWarning, is.Reason, messages.Event(is.Message))
	case len(o.unmet) > 0:
		r.events.Event(after, corev1.EventTypeWarning, eventUnmet, messages.Event(o.unmet[0]))
	case o.held != nil:
		r.events.Event(after, corev1.EventTypeNormal, eventHeld, messages.Event(o.held.Message))
	case len(o.notes) > 0:
		r.events.Event(after, corev1.EventTypeNormal, eventHeld, messages.Event(o.notes[0]))
	case len(o.leftOut) > 0:
		r.events.Event(after, corev1.EventTypeWarning, eventLeftOut, messages.Event(o.leftOut[0]))
	}
}

// outcome is what came of a pass.
type outcome struct {
	// resolved is what the catalogs have to offer; nil when they were not asked.
	resolved *resolution.ExtensionResult
	// conflict is why they have nothing, although what is installed stays; nil when they have.
	conflict *resolution.Conflict
	// problem is what is in the way of the desired state. A *revision.Refusal stays until something is changed.
	problem error
	// lost is why it is not known what is installed; nil when that is known.
	lost error
	// waits is true when catalogs were not asked, because one is still being loaded: what was reported of them stands.
	waits bool
	// leaving is true when the extension is being deleted.
	leaving bool
	// doing is what is under way without anything that could be checked in the cluster, such as a download.
	doing string
	// reason is why a revision is written, for the log.
	reason string
	// made is the revision that was written in this pass, and is not among those observed.
	made *olmv1.ClusterObjectSet
	// held is why an upgrade waits for its window; nil where none does.
	held *schedule.Held
	// advice is what can be done about a conflict, or is being done about it.
	advice []string
	// notes are remarks on a state that is as it should be.
	notes []string
	// leftOut is what of catalogs cannot be used and could have changed what is chosen.
	leftOut []string
	// unmet is what the installed bundle needs of other extensions, and they do not have.
	unmet []string
	// verifies is true where a signature policy is configured.
	verifies bool
	// again is when to look again although nothing changes; zero for never.
	again time.Duration
}

// stopped returns the problem as a refusal, if it is one.
func (o *outcome) stopped() *revision.Refusal {
	var s *revision.Refusal
	errors.As(o.problem, &s)
	return s
}

// soonest notes to look again after a while, unless that is due before anyway.
func (o *outcome) soonest(after time.Duration) {
	o.again = reconcile.Sooner(o.again, after)
}
