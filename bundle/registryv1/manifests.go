package registryv1

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle"
)

const serviceKind = "Service"

// customResourceDefinitions are the CRDs of the bundle, with their conversion webhooks.
func (r *renderer) customResourceDefinitions() ([]runtime.Object, error) {
	conversions, err := bundle.Conversions(r.CSV, bundle.WebhookOptions{Certs: r.Certs})
	if err != nil {
		return nil, err
	}
	by := map[string]bundle.Conversion{}
	for _, conversion := range conversions {
		by[conversion.CRD] = conversion
	}
	var out []runtime.Object
	for _, crd := range crds(r.bundle) {
		crd = crd.DeepCopy()
		crd.SetNamespace("")
		if conversion, ok := by[crd.GetName()]; ok {
			spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(conversion.Spec)
			if err == nil {
				err = unstructured.SetNestedMap(crd.Object, spec, "spec", "conversion")
			}
			if err != nil {
				return nil, fmt.Errorf("convert CRD %s with webhook %s: %w", crd.GetName(), conversion.GenerateName, err)
			}
			r.injectCA(crd, conversion.Spec.Webhook.ClientConfig.Service.Name)
		}
		out = append(out, crd)
	}
	return out, nil
}

// manifests are the other manifests of the bundle, in the namespace of the installation or in none. Services that serve webhooks or APIs
// are rendered with those.
func (r *renderer) manifests() ([]runtime.Object, error) {
	var out []runtime.Object
	for _, object := range r.bundle.Objects {
		if object.GetKind() == crdKind || r.isServing(object) {
			continue
		}
		object = object.DeepCopy()
		object.SetNamespace("")
		if bundle.Namespaced(object.GetKind()) {
			object.SetNamespace(r.options.Namespace)
		}
		out = append(out, object)
	}
	return out, nil
}

// isServing reports whether a manifest is the Service in front of a Deployment that serves webhooks or APIs.
func (r *renderer) isServing(object *unstructured.Unstructured) bool {
	if object.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind(serviceKind) {
		return false
	}
	for deployment := range r.Certs {
		if bundle.ServingServiceName(deployment) == object.GetName() {
			return true
		}
	}
	return false
}

// operatorCondition is where the operator says whether it can be upgraded. Only the fields that are not the operator's or an administrator's are
// set. The controller of OperatorConditions makes the Role and the RoleBinding with which the service accounts may write it.
func (r *renderer) operatorCondition() ([]runtime.Object, error) {
	if r.options.OperatorCondition == "" {
		return nil, nil
	}
	deployments, names := []any{}, []any{}
	var accounts []string
	strategy := r.CSV.Spec.InstallStrategy.StrategySpec
	for _, d := range strategy.DeploymentSpecs {
		deployments = append(deployments, d.Name)
		accounts = append(accounts, cmp.Or(d.Spec.Template.Spec.ServiceAccountName, bundle.DefaultServiceAccount))
	}
	for _, permission := range slices.Concat(strategy.ClusterPermissions, strategy.Permissions) {
		accounts = append(accounts, cmp.Or(permission.ServiceAccountName, bundle.DefaultServiceAccount))
	}
	slices.Sort(accounts)
	for _, account := range slices.Compact(accounts) {
		names = append(names, account)
	}
	out := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"serviceAccounts": names,
		"deployments":     deployments,
	}}}
	out.SetGroupVersionKind(v2.GroupVersion.WithKind(v2.OperatorConditionKind))
	out.SetNamespace(r.options.Namespace)
	out.SetName(r.options.OperatorCondition)
	out.SetLabels(map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	return []runtime.Object{out}, nil
}
