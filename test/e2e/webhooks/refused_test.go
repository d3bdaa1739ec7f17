package webhooks

import (
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// on makes a webhook be asked about other resources.
func on(group string, resources ...string) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.WebhookDefinitions[0].Rules[0].Rule = admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: resources}
	}
}

// TestRefusedWebhooks are those that could stop the management of operators, or that cannot be told apart. The message names the rule.
func TestRefusedWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Make(w.everywhere(), w.things())
	tests := map[string]struct {
		changes []change
		message string
	}{
		"same-name": {[]change{w.hooks("manager", validating, mutating), func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.WebhookDefinitions[1].GenerateName = csv.Spec.WebhookDefinitions[0].GenerateName
		}}, `repeat the generateName "validate.things.example.com"`},
		"all-groups":             {[]change{w.hooks("manager", validating), on("*", "*")}, `names the API group "*"`},
		"own-group":              {[]change{w.hooks("manager", mutating), on("operators.coreos.com", "*")}, `names the API group "operators.coreos.com"`},
		"webhook-configurations": {[]change{w.hooks("manager", validating), on("admissionregistration.k8s.io", "validatingwebhookconfigurations")}, `names the resource "validatingwebhookconfigurations"`},
		"mutating-kind":          {[]change{w.hooks("manager", validating), on("admissionregistration.k8s.io", "MutatingWebhookConfiguration")}, `names the resource "MutatingWebhookConfiguration"`},
		"all-of-admission":       {[]change{w.hooks("manager", validating), on("admissionregistration.k8s.io", "*")}, `names the resource "*"`},
		"conversion-not-owned":   {[]change{fixture.Modes("AllNamespaces"), w.hooks("manager", converting)}, "is not among the owned CRDs"},
	}
	for name, tc := range tests {
		w.Make(w.operator(name, tc.changes...))
	}
	for name, tc := range tests {
		csv := w.Is(name, v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonInvalidWebhookDescription)
		must.Contain(t, name, csv.Status.Message, tc.message)
	}
	w.checkUnregistered()
	// What was refused works as soon as it is mended.
	edit(w, "own-group", &v1alpha1.ClusterServiceVersion{}, on(w.group, "things"))
	w.Succeeds("own-group")
}

// checkUnregistered makes sure that nothing of the namespace is asked.
func (w *world) checkUnregistered() {
	w.Helper()
	if validating, mutating := w.configurations(w.Namespace); len(validating)+len(mutating) > 0 {
		w.Errorf("webhooks are registered: %v, %v", validating, mutating)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if w.Read("things."+w.group, crd); crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		w.Errorf("the CRD is converted: %v", crd.Spec.Conversion)
	}
}

// TestConversionOfOneNamespace is refused: a CRD has one conversion webhook for the whole cluster.
func TestConversionOfOneNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Make(w.here(), w.things(), w.operator("op.v1", fixture.Modes("AllNamespaces", "OwnNamespace"), w.owns, w.hooks("manager", converting)))
	csv := w.Is("op.v1", v1alpha1.CSVPhaseFailed, v1alpha1.CSVReasonInvalidWebhookDescription)
	must.Contain(t, "the message", csv.Status.Message, "needs AllNamespaces as the only supported install mode")
	w.checkUnregistered()
}

// TestOtherAdmissionResources may be asked about: only webhook configurations are out of bounds.
func TestOtherAdmissionResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ignore := admissionv1.Ignore
	w.Make(w.everywhere(), w.operator("op.v1", w.hooks("manager", mutating), on("admissionregistration.k8s.io", "validatingadmissionpolicies"),
		func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.WebhookDefinitions[0].FailurePolicy = &ignore }))
	w.Succeeds("op.v1")
	_, mutating := w.configurations(w.Namespace)
	if len(mutating) != 1 || mutating[0].Webhooks[0].Rules[0].Resources[0] != "validatingadmissionpolicies" {
		t.Errorf("registered is %v", mutating)
	}
}
