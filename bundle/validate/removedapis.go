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
// such a version. It looks at the objects of the bundle alone. What a ClusterServiceVersion lists as resources of its CRDs is shown to people:
// the bundle does not create them, and that a list names an old version does not say that the operator uses it.
func checkRemovedAPIs(r recorder) {
	for _, removed := range removals {
		severity := catalog.Warning
		if r.isFor(removed.minor) {
			severity = catalog.Error
		}
		for _, object := range r.Bundle.Objects {
			if removed.removesKind(object.GetAPIVersion(), object.GetKind()) {
				r.add(severity, RuleRemovedAPI, r.objectPlace(object).in("apiVersion"),
					fmt.Sprintf("%s Migrate the API(s) for %s: ([%s])", removedMessage(removed.minor), object.GetKind(), object.GetName()),
					"use a version of the API that is served")
			}
		}
	}
	if r.csv == nil {
		return
	}
	strategy := r.csv.Spec.InstallStrategy.StrategySpec
	for _, permissions := range [][]rbacv1.PolicyRule{rulesOf(strategy.Permissions), rulesOf(strategy.ClusterPermissions)} {
		if slices.ContainsFunc(permissions, func(rule rbacv1.PolicyRule) bool { return covers(rule, "policy", "podsecuritypolicies") }) {
			r.warn(RuleRemovedAPI, r.csvPlace().in("spec.install.spec"), removedMessage(25)+" Its permissions name PodSecurityPolicies", "remove the rule, if it is not for old clusters")
			return
		}
	}
}

func removedMessage(minor uint64) string {
	return fmt.Sprintf("this bundle is using APIs which were deprecated and removed in v1.%d.", minor)
}

// isFor says whether the bundle is for a version of Kubernetes, as the caller says or as its author does.
func (s *subject) isFor(minor uint64) bool {
	texts := []string{s.options.KubeVersion}
	if s.csv != nil {
		texts = append(texts, strings.TrimSpace(s.csv.Spec.MinKubeVersion))
	}
	for _, text := range texts {
		v, err := version.ParseTolerant(text)
		if text != "" && err == nil && v.GTE(semver.Version{Major: 1, Minor: minor}) {
			return true
		}
	}
	return false
}
