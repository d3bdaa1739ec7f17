package subscription

import (
	"context"
	"errors"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// report writes the status of every Subscription about which there is something new to say, and returns when bundles that could
// not be fetched are due to be tried again, or words that were put off to be written. Events and metrics follow what was written.
func (c *Controller) report(ctx context.Context, s *state, d *decision) (time.Duration, error) {
	now := c.Clock.Now()
	upgrades, err := reconcile.ReadUpgradeRules(ctx, c.client, s.Name)
	if err != nil {
		return 0, err
	}
	var failures []error
	told := map[string]bool{}
	counted := make([]metrics.Subscription, 0, len(s.Subscriptions))
	// The time until the first failed bundle or plan is tried again; zero when none failed.
	var retry time.Duration
	note := func(at time.Time) {
		retry = reconcile.Sooner(retry, max(at.Sub(now), time.Second))
	}
	for _, g := range d.groups {
		for _, f := range g.failures {
			note(f.retryAt)
		}
		if g.installPlan != nil && g.installPlan.Status.Phase == v1alpha1.InstallPlanPhaseFailed && !g.retryAt.IsZero() {
			note(g.retryAt)
		}
	}
	w := reconcile.StatusWriter[*v1alpha1.Subscription, v1alpha1.SubscriptionStatus]{Client: c.client, Owner: fieldOwner, Memory: c.written,
		Status: func(sub *v1alpha1.Subscription) *v1alpha1.SubscriptionStatus { return &sub.Status }, States: states}
	for i := range s.Subscriptions {
		before := w.Latest(&s.Subscriptions[i])
		after := before.DeepCopy()
		if !d.outdated[before.Name] {
			v := d.view(s, before, now)
			v.ungated = upgrades.For(v1alpha1.SubscriptionKind+" "+before.Name, before.Annotations).Problems()
			after.Status = v.status(now)
			if v.supported != nil {
				retry = reconcile.Sooner(retry, v.supported.In(now)) // a phase of support begins or ends
			}
		}
		if wait := tooSoon(&before.Status, &after.Status, now); wait > 0 {
			after, retry = before, reconcile.Sooner(retry, wait)
		}
		after, err := w.Write(ctx, before, after.Status)
		failures = append(failures, err)
		// Make Events of what has gone wrong since the status was written last: about the Subscription when there is no answer, and about the
		// namespace, where each is told once for all Subscriptions that it concerns; about the OperatorGroup when an annotation of it says
		// nothing, and about the Subscription when a bundle cannot be had.
		if failed, is := begun(before, after, v1alpha1.SubscriptionResolutionFailed); is {
			c.events.Event(referTo(after), corev1.EventTypeWarning, eventResolutionFailed, messages.Event(failed.Message))
			if !told[failed.Message] {
				told[failed.Message] = true
				about := &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: after.Namespace}
				c.events.Event(about, corev1.EventTypeWarning, eventResolutionFailed, failed.Message)
			}
		}
		if misread, is := begun(before, after, misreadCondition); is && !told[misread.Message] {
			told[misread.Message] = true
			group := &s.Groups[0]
			about := &corev1.ObjectReference{APIVersion: operatorsv1.GroupVersion.String(), Kind: operatorsv1.OperatorGroupKind, Namespace: group.Namespace,
				Name: group.Name, UID: group.UID, ResourceVersion: group.ResourceVersion}
			c.events.Event(about, corev1.EventTypeWarning, eventMisread, misread.Message)
		}
		if failed, is := begun(before, after, v1alpha1.SubscriptionBundleUnpackFailed); is {
			c.events.Event(referTo(after), corev1.EventTypeWarning, eventBundleUnpackFailed, failed.Message)
		}
		counted = append(counted, metrics.Subscription{Name: after.Name, Installed: after.Status.InstalledCSV, Channel: after.Spec.Channel,
			Package: after.Spec.Package, Approval: string(after.InstallPlanApproval())})
	}
	c.Metrics.Synced(s.Name, counted)
	return retry, errors.Join(failures...)
}

// states are the transitions of a Subscription: of its state, and of the conditions that report whether it is ready and why not.
func states(s *v1alpha1.SubscriptionStatus) []reconcile.State {
	out := []reconcile.State{{Type: "State", Status: string(s.State), Reason: string(s.Reason), Message: s.CurrentCSV}}
	for _, c := range s.Conditions {
		if c.Type == reconcilingCondition {
			continue // Ready says the same
		}
		out = append(out, reconcile.State{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message})
	}
	return out
}

// detailInterval is how often it is written at most how far an operator is that is being installed. That it is, and what keeps it from being
// installed, is written at once. While the objects of an operator arrive, the words change with each of them, and a cluster that is busy
// installing operators has no time for that.
const detailInterval = reconcile.StatusInterval

// tooSoon is how long to wait before a status is written of which only such words have changed; 0 or less is not at all.
func tooSoon(before, after *v1alpha1.SubscriptionStatus, now time.Time) time.Duration {
	since := now.Sub(before.LastUpdated.Time)
	if since < 0 || after.InstalledCSV == "" || after.GetCondition(readyCondition).Status != corev1.ConditionFalse ||
		equality.Semantic.DeepEqual(before, after) || !equality.Semantic.DeepEqual(wordless(before), wordless(after)) {
		return 0
	}
	return detailInterval - since
}

// wordless is a status without the words that say how far an operator is, and without the times that follow them.
func wordless(s *v1alpha1.SubscriptionStatus) *v1alpha1.SubscriptionStatus {
	out := s.DeepCopy()
	out.LastUpdated = metav1.Time{}
	for i := range out.Conditions {
		c := &out.Conditions[i]
		if c.Type == readyCondition || c.Type == reconcilingCondition || c.Type == v1alpha1.SubscriptionInstallPlanPending {
			c.Message, c.LastHeartbeatTime, c.LastTransitionTime = "", nil, nil
		}
	}
	return out
}

// eventSource is the component that Events come from.
const eventSource = "operator-lifecycle-manager"

// Reasons of Events.
const (
	eventResolutionFailed   = "ResolutionFailed"
	eventBundleUnpackFailed = "BundleUnpackFailed"
	eventMisread            = "AnnotationIgnored"
)

// begun returns a condition that is True and says something that it did not say before.
func begun(before, after *v1alpha1.Subscription, kind v1alpha1.SubscriptionConditionType) (v1alpha1.SubscriptionCondition, bool) {
	now := after.Status.GetCondition(kind)
	return now, now.Status == corev1.ConditionTrue && !now.Equals(before.Status.GetCondition(kind))
}

// referTo is what an Event about a Subscription refers to.
func referTo(sub *v1alpha1.Subscription) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Namespace: sub.Namespace,
		Name: sub.Name, UID: sub.UID, ResourceVersion: sub.ResourceVersion}
}
