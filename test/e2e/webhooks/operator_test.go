package webhooks

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

type change = fixture.Change

// operator is a CSV with one Deployment, "manager", that supports all install modes.
func (w *world) operator(name string, changes ...change) *v1alpha1.ClusterServiceVersion {
	return fixture.Operator(w.Namespace, name, changes...)
}

// gated holds the pods of all Deployments back, each until openGates.
func gated(csv *v1alpha1.ClusterServiceVersion) {
	for i := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		pod := &csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[i].Spec.Template.Spec
		pod.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/slow"}}
	}
}

// hooks adds webhooks, which ask a Deployment about the test's own kind.
func (w *world) hooks(deployment string, kinds ...v1alpha1.WebhookAdmissionType) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		for _, kind := range kinds {
			csv.Spec.WebhookDefinitions = append(csv.Spec.WebhookDefinitions, w.hook(deployment, kind))
		}
	}
}

const (
	validating = v1alpha1.ValidatingAdmissionWebhook
	mutating   = v1alpha1.MutatingAdmissionWebhook
	converting = v1alpha1.ConversionWebhook
)

func (w *world) hook(deployment string, kind v1alpha1.WebhookAdmissionType) v1alpha1.WebhookDescription {
	fail, none, path, target := admissionv1.Fail, admissionv1.SideEffectClassNone, paths[kind], intstr.FromInt32(9443)
	d := v1alpha1.WebhookDescription{
		GenerateName: path[1:] + ".things.example.com", Type: kind, DeploymentName: deployment, ContainerPort: 443, TargetPort: &target,
		SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, WebhookPath: &path,
	}
	if kind == converting {
		d.ConversionCRDs = []string{"things." + w.group}
		return d
	}
	d.FailurePolicy = &fail
	d.Rules = []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule: admissionv1.Rule{APIGroups: []string{w.group}, APIVersions: []string{"*"}, Resources: []string{"things"}}}}
	return d
}

// owns makes the test's own kind an API of the operator, in the versions that makeThings gives it.
func (w *world) owns(csv *v1alpha1.ClusterServiceVersion) {
	csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: "things." + w.group, Version: "v1", Kind: "Thing"}}
}

// things is the test's own kind. It goes with the test.
func (w *world) things() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things." + w.group,
		Annotations: map[string]string{v1alpha1.AdoptableByAnnotation: w.Namespace}}} // by hand, for an operator of the test to convert
	crd.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: w.group, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
	}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}}
	for _, version := range []string{"v1", "v2"} {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: version == "v1",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}},
		})
	}
	return crd
}

func (w *world) thing(namespace, version, name string, size int64) *unstructured.Unstructured {
	thing := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size}}}
	thing.SetAPIVersion(w.group + "/" + version)
	thing.SetKind("Thing")
	thing.SetNamespace(namespace)
	thing.SetName(name)
	return thing
}

func size(thing *unstructured.Unstructured) int64 {
	out, _, _ := unstructured.NestedInt64(thing.Object, "spec", "size")
	return out
}

// apis makes aggregated APIs of the test's own group, each in a version of its own, be served by a Deployment.
func (w *world) apis(deployment string, versions ...string) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		for _, version := range versions {
			csv.Spec.APIServiceDefinitions.Owned = append(csv.Spec.APIServiceDefinitions.Owned, v1alpha1.APIServiceDescription{
				Name: "widgets", Group: w.group, Version: version, Kind: "Widget", DeploymentName: deployment, ContainerPort: 5443})
		}
	}
}
