package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// removal is a version of Kubernetes and the APIs that it does not serve any more.
type removal struct {
	minor uint64
	apis  []removedAPI
}

// removedAPI are kinds of one version of a group.
type removedAPI struct {
	apiVersion string
	kinds      []string
}

var removals = []removal{
	{22, []removedAPI{
		{"apiextensions.k8s.io/v1beta1", []string{"CustomResourceDefinition"}},
		{"scheduling.k8s.io/v1beta1", []string{"PriorityClass"}},
		{"rbac.authorization.k8s.io/v1beta1", []string{"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}},
		{"apiregistration.k8s.io/v1beta1", []string{"APIService"}},
		{"authentication.k8s.io/v1beta1", []string{"TokenReview"}},
		{"authorization.k8s.io/v1beta1", []string{"LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"}},
		{"admissionregistration.k8s.io/v1beta1", []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}},
		{"coordination.k8s.io/v1beta1", []string{"Lease"}},
		{"extensions/v1beta1", []string{"Ingress"}},
		{"networking.k8s.io/v1beta1", []string{"Ingress", "IngressClass"}},
		{"storage.k8s.io/v1beta1", []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"}},
		{"certificates.k8s.io/v1beta1", []string{"CertificateSigningRequest"}},
	}},
	{25, []removedAPI{
		{"batch/v1beta1", []string{"CronJob"}},
		{"discovery.k8s.io/v1beta1", []string{"EndpointSlice"}},
		{"events.k8s.io/v1beta1", []string{"Event"}},
		{"autoscaling/v2beta1", []string{"HorizontalPodAutoscaler"}},
		{"policy/v1beta1", []string{"PodDisruptionBudget", "PodSecurityPolicy"}},
		{"node.k8s.io/v1beta1", []string{"RuntimeClass"}},
	}},
	{26, []removedAPI{
		{"autoscaling/v2beta2", []string{"HorizontalPodAutoscaler"}},
	}},
}

// removesKind reports whether Kubernetes stopped serving the kind in this version.
func (r removal) removesKind(apiVersion, kind string) bool {
	return slices.ContainsFunc(r.apis, func(api removedAPI) bool { return apiVersion == api.apiVersion && slices.Contains(api.kinds, kind) })
}

// checkRemovedAPIs finds what stops working in later versions of Kubernetes: a warning, or an error if the bundle is for
// such a version. It checks the objects of the bundle alone. What a ClusterServiceVersion lists as resources of its CRDs is shown to people:
// the bundle does not create them, and that a list names an old version does not say that the operator uses it.
func checkRemovedAPIs(r recorder) {
	const message = "this bundle is using APIs which were deprecated and removed in v1.%d."
	texts := []string{r.options.KubeVersion} // what the bundle is for, as the caller says or as its author does
	if r.csv != nil {
		texts = append(texts, strings.TrimSpace(r.csv.Spec.MinKubeVersion))
	}
	for _, removed := range removals {
		severity := catalog.Warning
		for _, text := range texts {
			v, err := version.ParseTolerant(text)
			if text != "" && err == nil && v.GTE(semver.Version{Major: 1, Minor: removed.minor}) {
				severity = catalog.Error
			}
		}
		for _, object := range r.Bundle.Objects {
			if removed.removesKind(object.GetAPIVersion(), object.GetKind()) {
				r.add(severity, RuleRemovedAPI, r.objectPlace(object).in("apiVersion"),
					fmt.Sprintf(message+" Migrate the API(s) for %s: ([%s])", removed.minor, object.GetKind(), object.GetName()),
					"use a version of the API that is served")
			}
		}
	}
	if r.csv == nil {
		return
	}
	strategy := r.csv.Spec.InstallStrategy.StrategySpec
	for _, p := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		if slices.ContainsFunc(p.Rules, func(rule rbacv1.PolicyRule) bool { return covers(rule, "policy", "podsecuritypolicies") }) {
			r.warn(RuleRemovedAPI, r.csvPlace().in("spec.install.spec"), fmt.Sprintf(message, 25)+" Its permissions name PodSecurityPolicies", "remove the rule, if it is not for old clusters")
			return
		}
	}
}
