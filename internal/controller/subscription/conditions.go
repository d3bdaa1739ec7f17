package subscription

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owned are the condition types that this controller alone sets and takes away.
var owned = []v1alpha1.SubscriptionConditionType{
	readyCondition,
	stalledCondition,
	heldBackCondition,
	misreadCondition,
	catalogProblemCondition,
	v1alpha1.SubscriptionCatalogSourcesUnhealthy,
	v1alpha1.SubscriptionInstallPlanMissing,
	v1alpha1.SubscriptionInstallPlanPending,
	v1alpha1.SubscriptionInstallPlanFailed,
	v1alpha1.SubscriptionResolutionFailed,
	v1alpha1.SubscriptionBundleUnpacking,
	v1alpha1.SubscriptionBundleUnpackFailed,
	v1alpha1.SubscriptionDeprecated,
	v1alpha1.SubscriptionPackageDeprecated,
	v1alpha1.SubscriptionChannelDeprecated,
	v1alpha1.SubscriptionBundleDeprecated,
}

// setConditions sets what is to be said of the Subscription and takes away what no longer holds.
func (v view) setConditions(status *v1alpha1.SubscriptionStatus, now metav1.Time) {
	wanted := v.conditions()
	for _, kind := range owned {
		if !slices.ContainsFunc(wanted, func(c v1alpha1.SubscriptionCondition) bool { return c.Type == kind }) {
			status.RemoveConditions(kind)
		}
	}
	for _, c := range wanted {
		status.SetCondition(c, now)
	}
}

// conditions is all that is to be said. What follows from a catalog that is only being loaded again is repeated as it was.
func (v view) conditions() []v1alpha1.SubscriptionCondition {
	all := v.misread()
	if v.repeats() {
		all = append(all, v.planConditions()...)
		return append(all, v.repeated()...)
	}
	all = append(all, v.ready()...)
	all = append(all, v.catalogs())
	all = append(all, v.catalogProblem()...)
	all = append(all, v.planConditions()...)
	all = append(all, v.decisionConditions()...)
	all = append(all, v.named(v.heldBack())...)
	return append(all, v.deprecations()...)
}

func isTrue(kind v1alpha1.SubscriptionConditionType, reason, message string) v1alpha1.SubscriptionCondition {
	return v1alpha1.NewSubscriptionCondition(kind, corev1.ConditionTrue, reason, message)
}

func (v view) ready() []v1alpha1.SubscriptionCondition {
	verdict := v.verdict()
	status := corev1.ConditionFalse
	if verdict.ready {
		status = corev1.ConditionTrue
	}
	ready := v1alpha1.NewSubscriptionCondition(readyCondition, status, verdict.reason, verdict.message)
	if !verdict.stalled {
		return []v1alpha1.SubscriptionCondition{ready}
	}
	return []v1alpha1.SubscriptionCondition{ready, isTrue(stalledCondition, verdict.reason, verdict.message)}
}

const (
	// readyCondition is the one verdict on a Subscription, in the polarity that tools expect.
	readyCondition v1alpha1.SubscriptionConditionType = "Ready"
	// stalledCondition is there while nothing goes on until somebody changes something.
	stalledCondition v1alpha1.SubscriptionConditionType = "Stalled"
)

// misreadCondition is there while an annotation of the OperatorGroup, which says how the namespace is decided on, says nothing.
const misreadCondition v1alpha1.SubscriptionConditionType = "AnnotationIgnored"

const reasonNotBoolean = "NeitherTrueNorFalse"

func (v view) misread() []v1alpha1.SubscriptionCondition {
	notes := v.state.Misread()
	if len(notes) == 0 {
		return nil
	}
	return []v1alpha1.SubscriptionCondition{isTrue(misreadCondition, reasonNotBoolean, tidy(strings.Join(notes, "; ")))}
}

// heldBackCondition is there while something newer than what was chosen, or than what stays, cannot be had.
const heldBackCondition v1alpha1.SubscriptionConditionType = "HeldBack"

// heldBack says in full what holds newer versions back. Its reason tells whether one is known.
func (v view) heldBack() []v1alpha1.SubscriptionCondition {
	held := v.held()
	if len(held) == 0 {
		return nil
	}
	reason, texts := "NoUpgradePath", make([]string, len(held))
	for i, h := range held {
		texts[i] = tidy(h.Reason)
		if h.Conflict != nil {
			texts[i] = h.Conflict.Error()
		}
		if h.Wanted != "" {
			reason = "NewerVersionNotPossible"
		}
	}
	return []v1alpha1.SubscriptionCondition{isTrue(heldBackCondition, reason, strings.Join(texts, "\n"))}
}
