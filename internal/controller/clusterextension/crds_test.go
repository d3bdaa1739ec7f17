package clusterextension

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// definition is a CRD whose field size has a least value.
func definition(least float64) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Scope: "Namespaced",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer", Minimum: &least}}}}}}}}
}

// TestCRDs are judged before anything is written; the report has all findings, and each way to go on nevertheless works.
func TestCRDs(t *testing.T) {
	strict := func(e olmv1.CRDUpgradeSafetyEnforcement) func(*olmv1.ClusterExtension) {
		return func(ext *olmv1.ClusterExtension) {
			ext.Spec.Install = &olmv1.ClusterExtensionInstallConfig{Preflight: &olmv1.PreflightConfig{CRDUpgradeSafety: &olmv1.CRDUpgradeSafetyPreflightConfig{Enforcement: e}}}
		}
	}
	annotate := func(text string) func(*olmv1.ClusterExtension) {
		return func(ext *olmv1.ClusterExtension) { ext.Annotations = map[string]string{revision.ExemptionsKey: text} }
	}
	const refused = `True/Retrying: validating upgrade for CRD "things.example.com": v1: ^.size: minimum: `
	for name, test := range map[string]struct {
		live   float64
		change func(*olmv1.ClusterExtension)
		want   string
	}{
		"strict by itself":        {1, func(*olmv1.ClusterExtension) {}, refused},
		"strict":                  {1, strict(olmv1.CRDUpgradeSafetyEnforcementStrict), refused},
		"nothing breaks":          {3, func(*olmv1.ClusterExtension) {}, "True/RollingOut"},
		"no enforcement":          {1, strict(olmv1.CRDUpgradeSafetyEnforcementNone), "True/RollingOut"},
		"the check is exempt":     {1, annotate("minimum"), "True/RollingOut"},
		"the property is exempt":  {1, annotate("maximum; minimum things.example.com ^.size"), "True/RollingOut"},
		"another CRD is exempt":   {1, annotate("minimum others.example.com"), refused},
		"a check that is none":    {1, annotate("minimum; minimun"), `False/InvalidConfiguration: annotation operators.fairlead.dev/crd-upgrade-exemptions names the check "minimun"; there are default, enum, `},
		"an exemption of nothing": {1, annotate("a b c d"), "False/InvalidConfiguration: annotation operators.fairlead.dev/crd-upgrade-exemptions has"},
	} {
		t.Run(name, func(t *testing.T) {
			ext := want("my", "a", "")
			test.change(ext)
			w := newWorld(t, ext, definition(test.live))
			w.brings("a.v1.0.0", definition(2))
			w.serve("cat", pkg("a", "1.0.0"))
			w.pass("my")
			if got := w.condition("my", "Progressing"); !strings.HasPrefix(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
			report := &corev1.ConfigMap{}
			err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "olm", Name: "my-crd-upgrade-report"}, report)
			if told := strings.Contains(report.Data["things.example.com"], "to do:"); told != (test.want == refused) {
				t.Errorf("the report is %v (%v)", report.Data, err)
			}
			w.server.Taken()
			w.pass("my")
			must.Empty(t, "the same is written again", w.server.Writes())
		})
	}
}

// TestForeignReport is not touched.
func TestForeignReport(t *testing.T) {
	w := newWorld(t, want("my", "a", ""), definition(1), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "my-crd-upgrade-report"}})
	w.brings("a.v1.0.0", definition(2))
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	if got := progressOf(w.extension("my")).Message; !strings.Contains(got, "minimum") || !strings.Contains(got, "there is another one of this name") {
		t.Error(got)
	}
}
