package subscription

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogset"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// owned are the condition types that this controller alone sets and takes away.
var owned = []v1alpha1.SubscriptionConditionType{
	readyCondition,
	heldBackCondition,
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
	wanted := []v1alpha1.SubscriptionCondition{v.ready(), v.catalogs()}
	wanted = append(wanted, v.planConditions()...)
	wanted = append(wanted, v.decisionConditions()...)
	wanted = append(wanted, v.heldBack()...)
	wanted = append(wanted, v.deprecations()...)
	for _, kind := range owned {
		if !slices.ContainsFunc(wanted, func(c v1alpha1.SubscriptionCondition) bool { return c.Type == kind }) {
			status.RemoveConditions(kind)
		}
	}
	for _, c := range wanted {
		status.SetCondition(c, now)
	}
}

func isTrue(kind v1alpha1.SubscriptionConditionType, reason, message string) v1alpha1.SubscriptionCondition {
	return v1alpha1.NewSubscriptionCondition(kind, corev1.ConditionTrue, reason, message)
}

func (v view) ready() v1alpha1.SubscriptionCondition {
	verdict := v.verdict()
	status := corev1.ConditionFalse
	if verdict.ready {
		status = corev1.ConditionTrue
	}
	return v1alpha1.NewSubscriptionCondition(readyCondition, status, verdict.reason, verdict.message)
}

// readyCondition is the one verdict on a Subscription, in the polarity that tools expect.
const readyCondition v1alpha1.SubscriptionConditionType = "Ready"

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

// catalogs says whether the catalog that the Subscription names can serve it. Trouble with other catalogs is in catalogHealth.
func (v view) catalogs() v1alpha1.SubscriptionCondition {
	target := catalogset.Ref{Namespace: v.sub.Spec.CatalogSourceNamespace, Name: v.sub.Spec.CatalogSource}
	s := v.state.Source(target)
	switch {
	case len(v.state.Sources) == 0:
		return v1alpha1.NewNoCatalogsCondition()
	case s == nil:
		return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("targeted catalogsource %s missing", target))
	case !s.Healthy():
		return v1alpha1.NewCatalogsUnhealthyCondition(fmt.Sprintf("targeted catalogsource %s unhealthy%s", target, prefixed(": ", s.Served.Problem)))
	}
	return v1alpha1.NewCatalogsHealthyCondition()
}

// planConditions tell how far the plan is.
func (v view) planConditions() []v1alpha1.SubscriptionCondition {
	if v.plan == nil {
		if v.sub.Status.InstallPlanRef != nil && v.installed != nil {
			return []v1alpha1.SubscriptionCondition{v1alpha1.NewInstallPlanMissingCondition()}
		}
		return nil
	}
	if c, ok := v1alpha1.NewInstallPlanCondition(&v.plan.Status); ok {
		return []v1alpha1.SubscriptionCondition{c}
	}
	return nil
}

// decisionConditions tell what came of the decision: at most one of them is True.
func (v view) decisionConditions() []v1alpha1.SubscriptionCondition {
	one := func(kind v1alpha1.SubscriptionConditionType, reason, message string) []v1alpha1.SubscriptionCondition {
		return []v1alpha1.SubscriptionCondition{isTrue(kind, reason, message)}
	}
	switch {
	case v.broken != "":
		return one(v1alpha1.SubscriptionResolutionFailed, v1alpha1.SubscriptionReasonErrorPreventedResolution, v.broken)
	case v.group == nil:
		return nil
	case v.group.Err != nil:
		return one(v1alpha1.SubscriptionResolutionFailed, resolutionReason(v.group.Err), v.group.Err.Error())
	case len(v.group.failures) > 0:
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonBundleUnpackFailed, "bundle unpacking failed. "+v.group.failureText())
	case len(v.group.fetching) > 0:
		return one(v1alpha1.SubscriptionBundleUnpacking, v1alpha1.SubscriptionReasonUnpackingInProgress, "fetching "+strings.Join(v.group.fetching, ", "))
	case v.group.problem != "":
		return one(v1alpha1.SubscriptionBundleUnpackFailed, v1alpha1.SubscriptionReasonEnsureInstallPlanFailed, "error ensuring InstallPlan: "+v.group.problem)
	}
	return nil
}

// deprecations repeats what the catalog says about the package, the channel and the installed version.
func (v view) deprecations() []v1alpha1.SubscriptionCondition {
	s := v.state.Source(catalogset.Ref{Namespace: v.sub.Spec.CatalogSourceNamespace, Name: v.sub.Spec.CatalogSource})
	if s == nil || s.Served.Index == nil {
		return nil
	}
	p, ok := s.Served.Index.Package(v.sub.Spec.Package)
	if !ok {
		return nil
	}
	var found []v1alpha1.SubscriptionCondition
	note := func(kind v1alpha1.SubscriptionConditionType, object, message string) {
		if message != "" {
			found = append(found, isTrue(kind, "", object+": "+message))
		}
	}
	note(v1alpha1.SubscriptionPackageDeprecated, "olm.package/"+p.Name, p.Deprecation)
	if c, ok := p.Channel(v.sub.Spec.Channel); ok {
		note(v1alpha1.SubscriptionChannelDeprecated, "olm.channel/"+c.Name, c.Deprecation)
	}
	if v.installed != nil {
		if b, ok := s.Served.Index.Bundle(p.Name, v.installed.Name); ok {
			note(v1alpha1.SubscriptionBundleDeprecated, "olm.bundle/"+b.Name, b.Deprecation)
		}
	}
	if len(found) == 0 {
		return nil
	}
	messages := make([]string, len(found))
	for i, c := range found {
		messages[i] = c.Message
	}
	return append(found, isTrue(v1alpha1.SubscriptionDeprecated, "", strings.Join(messages, "; ")))
}
