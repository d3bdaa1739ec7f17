package clusterobjectset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// outcome is what a pass over an active set came to.
type outcome struct {
	// err is what failed; a *revision.BlockedError when nothing helps but another client.
	err error
	// missing is what objects lack that were applied.
	missing []string
	// loops says that a workload is begun again and again, in vain.
	loops bool
	// complete says that every object is as desired and available; transition that later revisions keep some.
	complete, transition bool
	// retry is when the next pass is due at the latest; 0 is never.
	retry time.Duration
}

// rolledOut reports whether a set is rolled out. Where a later revision keeps objects, it is that one's content that is available: this shows
// nothing of a set that never worked, whereas one that did has only been overtaken.
func (o outcome) rolledOut(set *olmv1.ClusterObjectSet) bool {
	return o.complete && (!o.transition || hasSucceeded(set))
}

// reportRollout sets the conditions of an active set.
func reportRollout(set *olmv1.ClusterObjectSet, o outcome, now time.Time) {
	progressing, available := progress(set, o, now), availability(set, o)
	setCondition(set, progressing, now)
	if available != nil {
		setCondition(set, *available, now)
	}
	if o.rolledOut(set) {
		setCondition(set, olmv1.NewCondition(olmv1.TypeSucceeded, metav1.ConditionTrue, olmv1.ReasonSucceeded, "Revision "+version(set)+" has rolled out."), now)
	}
}

// progress is the condition Progressing.
func progress(set *olmv1.ClusterObjectSet, o outcome, now time.Time) metav1.Condition {
	var condition metav1.Condition
	switch {
	case errors.As(o.err, new(*revision.BlockedError)):
		return olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionFalse, olmv1.ReasonBlocked, o.err.Error())
	case o.err != nil:
		condition = olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRetrying, o.err.Error())
	case o.complete && !o.transition:
		return olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonSucceeded, "Revision "+version(set)+" has rolled out.")
	default:
		condition = olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionTrue, olmv1.ReasonRollingOut, "Revision "+version(set)+" is rolling out.")
	}
	if limit := deadline(set); limit.IsZero() || o.rolledOut(set) || now.Before(limit) {
		if o.err == nil && o.loops && !hasSucceeded(set) {
			return olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionFalse, olmv1.ReasonCrashLoopBackOff, "Revision "+version(set)+" does not keep running. "+list(o.missing))
		}
		return condition
	}
	last := condition.Message
	if o.err == nil && len(o.missing) > 0 {
		last += " " + list(o.missing)
	}
	return olmv1.NewCondition(olmv1.TypeProgressing, metav1.ConditionFalse, olmv1.ReasonProgressDeadlineExceeded,
		fmt.Sprintf("Revision has not rolled out for %d minute(s). Last status: %s", set.Spec.ProgressDeadlineMinutes, last))
}

// availability is the condition Available; nil leaves it unset.
func availability(set *olmv1.ClusterObjectSet, o outcome) *metav1.Condition {
	var condition metav1.Condition
	switch {
	case o.err != nil && meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable) == nil:
		return nil
	case o.err != nil:
		condition = olmv1.NewCondition(olmv1.TypeAvailable, metav1.ConditionUnknown, olmv1.ReasonReconciling, o.err.Error())
	case o.rolledOut(set):
		condition = olmv1.NewCondition(olmv1.TypeAvailable, metav1.ConditionTrue, olmv1.ReasonProbesSucceeded, "All objects are there and available.")
	case len(o.missing) > 0:
		condition = olmv1.NewCondition(olmv1.TypeAvailable, metav1.ConditionFalse, olmv1.ReasonProbeFailure, list(o.missing))
	default:
		condition = olmv1.NewCondition(olmv1.TypeAvailable, metav1.ConditionFalse, olmv1.ReasonRollingOut, "Revision "+version(set)+" is rolling out.")
	}
	return &condition
}

// version names a revision for people: by the version of the bundle, or else by its number.
func version(set *olmv1.ClusterObjectSet) string {
	return cmp.Or(set.Annotations[olmv1.BundleVersionKey], strconv.FormatInt(set.Spec.Revision, 10))
}

// deadline is when the rollout counts as failed; zero for sets without such a time, and for those that were rolled out once.
func deadline(set *olmv1.ClusterObjectSet) time.Time {
	if set.Spec.ProgressDeadlineMinutes <= 0 || hasSucceeded(set) {
		return time.Time{}
	}
	return set.CreationTimestamp.Add(time.Duration(set.Spec.ProgressDeadlineMinutes) * time.Minute)
}

func hasSucceeded(set *olmv1.ClusterObjectSet) bool {
	return meta.IsStatusConditionTrue(set.Status.Conditions, olmv1.TypeSucceeded)
}

// maxListed is how many objects a condition names.
const maxListed = 20

// list is one line for each, and the number of those that are left out.
func list(lines []string) string { return safetext.List(lines, maxListed, "\n") }

func setCondition(set *olmv1.ClusterObjectSet, condition metav1.Condition, now time.Time) {
	olmv1.SetCondition(&set.Status.Conditions, condition, set.Generation, metav1.NewTime(now.Truncate(time.Second)))
}

// reporter reports the result of a pass: in the status, as an Event, in the log and in metrics.
type reporter struct {
	*environment
	status reconcile.StatusWriter[*olmv1.ClusterObjectSet, olmv1.ClusterObjectSetStatus]
}

// report writes what a change makes of the status, if anything, and makes an Event of a transition of Progressing. A set that has changed since it was
// read is left for the next pass. Afterwards the set has the status that the API server has.
func (r *reporter) report(ctx context.Context, set *olmv1.ClusterObjectSet, change func(*olmv1.ClusterObjectSet)) error {
	before := r.status.Latest(set).DeepCopy()
	set.Status = *before.Status.DeepCopy()
	change(set)
	judge(set, r.clock.Now())
	defer r.measure(before, set)
	after, err := r.status.Write(ctx, before, set.Status)
	if err != nil || after == before {
		set.Status = *before.Status.DeepCopy() // nothing was written: the set has changed or is gone, or this is not new
		if reconcile.IsOutdated(err) {
			return nil
		}
		return err
	}
	after.DeepCopyInto(set)
	was, is := meta.FindStatusCondition(before.Status.Conditions, olmv1.TypeProgressing), meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
	if is == nil || was != nil && was.Reason == is.Reason {
		return nil
	}
	kind := corev1.EventTypeNormal
	switch is.Reason {
	case olmv1.ReasonBlocked, olmv1.ReasonProgressDeadlineExceeded, olmv1.ReasonCrashLoopBackOff, olmv1.ReasonRetrying:
		kind = corev1.EventTypeWarning
	}
	r.events.Event(set, kind, is.Reason, messages.Event(is.Message))
	return nil
}

// missing says what an object lacks, in the form that clients of the API know.
func missing(r rollout.ObjectResult) string {
	name := r.Ref.Name
	if r.Ref.Namespace != "" {
		name = r.Ref.Namespace + "/" + name
	}
	return fmt.Sprintf("Object %s.%s %s: %s", r.Ref.Kind, r.Ref.GroupVersion(), name, strings.TrimPrefix(r.Waiting, r.Ref.String()+": "))
}

// states are the reasons of the condition Progressing.
var states = []string{olmv1.ReasonRollingOut, olmv1.ReasonSucceeded, olmv1.ReasonRetrying, olmv1.ReasonBlocked, olmv1.ReasonProgressDeadlineExceeded,
	olmv1.ReasonCrashLoopBackOff, olmv1.ReasonArchived}

// measure counts a set as it stands after a pass, and how long it took if it has been rolled out in that.
func (r *reporter) measure(before, set *olmv1.ClusterObjectSet) {
	if !hasSucceeded(before) && hasSucceeded(set) {
		r.metrics.RolledOut(r.clock.Now().Sub(set.CreationTimestamp.Time))
	}
	progressing := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing)
	if progressing == nil {
		return
	}
	state := progressing.Reason
	active := revision.Active(set)
	if !active && state != olmv1.ReasonArchived {
		state = metrics.StateGoing
	}
	available := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable)
	failing := active && available != nil && available.Status == metav1.ConditionFalse && available.Reason == olmv1.ReasonProbeFailure
	r.metrics.Observe(set.Name, state, failing, hasSucceeded(set))
}
