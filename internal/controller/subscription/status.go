package subscription

import (
	"slices"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// status says how a Subscription stands. It is a function of what was observed and decided; times move only where something else
// does.
func (v view) status(now time.Time) v1alpha1.SubscriptionStatus {
	stamp := metav1.Time{Time: now.Truncate(time.Second)}
	old := v.sub.Status
	next := *old.DeepCopy()
	next.InstalledCSV = ""
	if v.installed != nil {
		next.InstalledCSV = v.installed.Name
	}
	next.ObservedGeneration = v.sub.Generation
	if !v.repeats() || next.InstalledCSV != old.InstalledCSV {
		next.CurrentCSV = v.current()
		next.State = v.upgradeState(next)
		next.Reason = v.reason(next.State)
	}
	v.refer(&next)
	next.CatalogHealth = v.catalogs.health(stamp)
	// Set what is to be said of the Subscription and take away what no longer holds.
	desired := v.conditions()
	for _, kind := range owned {
		if !slices.ContainsFunc(desired, func(c v1alpha1.SubscriptionCondition) bool { return c.Type == kind }) {
			next.RemoveConditions(kind)
		}
	}
	for _, c := range desired {
		next.SetCondition(c, stamp)
	}
	if equality.Semantic.DeepEqual(old, next) {
		return old
	}
	next.LastUpdated = stamp
	return next
}

// current is the version that the Subscription is moving to: what its plan installs, else what is there.
func (v view) current() string {
	switch {
	case v.planned():
		return v.choice.Bundle.Name
	case v.pending():
		return v.sub.Status.CurrentCSV
	case v.idle != "": // what was deleted is what it had moved to, also where the version before is still there
		return snapshot.Target(v.sub)
	case v.installed != nil:
		return v.installed.Name
	}
	return snapshot.Target(v.sub)
}

func (v view) upgradeState(next v1alpha1.SubscriptionStatus) v1alpha1.SubscriptionState {
	switch {
	case (v.planned() || v.pending()) && v.plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed:
		return v1alpha1.SubscriptionStateFailed
	case v.planned() || v.pending():
		return v1alpha1.SubscriptionStateUpgradePending
	case v.installed == nil && next.CurrentCSV == "":
		return v1alpha1.SubscriptionStateNone
	case v.installed == nil || v.idle != "":
		return v1alpha1.SubscriptionStateUpgradePending
	case v.choice != nil:
		return v1alpha1.SubscriptionStateUpgradeAvailable
	}
	// What is newer may be out of the version range, or wait until what is installed runs.
	newer := slices.ContainsFunc(v.held, func(h resolution.Held) bool { return h.Subscription == v.sub.Name && h.Wanted != "" })
	if h := v.held.byRange(); h != nil && h.Wanted != "" || !isIn(v1alpha1.CSVPhaseSucceeded, v.installed) && newer {
		return v1alpha1.SubscriptionStateUpgradeAvailable
	}
	return v1alpha1.SubscriptionStateAtLatest
}

// reason says in one word why the Subscription is in its state, where one of the documented words fits.
func (v view) reason(state v1alpha1.SubscriptionState) v1alpha1.ConditionReason {
	switch {
	case v.catalogs.condition().Status == corev1.ConditionTrue:
		return v1alpha1.SubscriptionReasonInvalidCatalog
	case state == v1alpha1.SubscriptionStateAtLatest && isIn(v1alpha1.CSVPhaseSucceeded, v.installed):
		return v1alpha1.SubscriptionReasonUpgradeSucceeded
	}
	return ""
}

// refer names the plan. A reference to a plan that is gone stays when it is only history; when the Subscription still waits for
// that plan, it is dropped, so that another one is made.
func (v view) refer(next *v1alpha1.SubscriptionStatus) {
	if v.plan == nil {
		if next.InstallPlanRef != nil && v.installed == nil && v.idle == "" {
			next.InstallPlanRef, next.Install, next.CurrentCSV, next.State = nil, nil, "", v1alpha1.SubscriptionStateNone
		}
		return
	}
	apiVersion := v1alpha1.GroupVersion.String()
	next.InstallPlanGeneration = v.plan.Spec.Generation
	next.InstallPlanRef = &corev1.ObjectReference{APIVersion: apiVersion, Kind: v1alpha1.InstallPlanKind,
		Namespace: v.plan.Namespace, Name: v.plan.Name, UID: v.plan.UID}
	next.Install = &v1alpha1.InstallPlanReference{APIVersion: apiVersion, Kind: v1alpha1.InstallPlanKind, Name: v.plan.Name, UID: v.plan.UID}
}
