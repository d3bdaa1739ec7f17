package attack

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestIdleOperatorVetoesUpgrade: a tenant's ClusterServiceVersion owns an API that does not exist, and so never runs. It does not keep an operator of
// the whole cluster from an upgrade that brings this API.
func TestIdleOperatorVetoesUpgrade(t *testing.T) {
	const group = "veto.example.com"
	w := sharedWorld(t)
	installer := w.confined("attack-veto")
	global := w.namespace("attack-veto-global")
	harness.Create(t, w, &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: global, Name: "group"}})
	brought := func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Annotations = map[string]string{bundle.InstalledAlongsideKey(global, "lamps.v2"): global + "/lamps.v2"}
	}
	old := w.definition("lamps", group, brought)
	harness.Create(t, w, operator(global, "lamps.v1", old.Name))
	w.phase(global, "lamps.v1", v1alpha1.CSVPhaseSucceeded)

	harness.Create(t, installer, operator("attack-veto", "squatter.v1", "bulbs."+group))
	must.Eventually(t, "the squatter to be seen", func() error {
		return w.reason("attack-veto", "squatter.v1", v1alpha1.CSVReasonRequirementsNotMet)
	})
	v2 := operator(global, "lamps.v2", old.Name, w.definition("bulbs", group, brought).Name)
	v2.Spec.Replaces = "lamps.v1"
	harness.Create(t, w, v2)
	csv := w.phase(global, "lamps.v2", v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVPhaseFailed)
	if csv.Status.Phase == v1alpha1.CSVPhaseFailed {
		t.Errorf("the attack succeeds: the upgrade is refused: %s: %s", csv.Status.Reason, csv.Status.Message)
	}
}

// lamps is the definition of lamps in JSON, with the given versions; the last one is stored.
func lamps(group string, versions ...apiextensionsv1.CustomResourceDefinitionVersion) string {
	crd := apiextensionsv1.CustomResourceDefinition{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, ObjectMeta: metav1.ObjectMeta{Name: "lamps." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: group, Scope: apiextensionsv1.NamespaceScoped, Versions: versions,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lamps", Singular: "lamp", Kind: "Lamp", ListKind: "LampList"}}}
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = i == len(versions)-1
		crd.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}
	}
	text, err := json.Marshal(crd)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestRunningOperatorVetoesUpgrade: the ClusterServiceVersions of two confined tenants list the CRD of a platform team, one as owned and one as required,
// and run: their pods do nothing. The platform team upgrades to a definition that no longer serves the version that they list.
func TestRunningOperatorVetoesUpgrade(t *testing.T) {
	const group, platform = "runs.example.com", "attack-runs-platform"
	w := sharedWorld(t)
	w.namespace(platform)
	w.group(platform, "")
	t.Cleanup(func() {
		_ = w.Delete(context.Background(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "lamps." + group}})
	})
	owns := func(version string, change func(*v1alpha1.ClusterServiceVersion)) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned[0].Version = version
			if change != nil {
				change(csv)
			}
		}
	}
	v1, v2 := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true}, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2", Served: true}
	w.shopOfVersions(platform, map[string][][]string{"lamps": {
		goods("lamps", owns("v2", nil), lamps(group, v1, v2)),
		goods("lamps", owns("v2", upgraded("lamps", 1)), lamps(group, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1"}, v2)),
	}})
	sub := order(platform, "lamps", v1alpha1.ApprovalManual)
	sub.Spec.StartingCSV = versionOf("lamps", 0)
	harness.Create(t, w, sub)
	approve := func(minor int) {
		t.Helper()
		p := w.planOfVersion(platform, "lamps", minor, "to wait for approval", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval })
		harness.Edit(t, w, platform, p.Name, &v1alpha1.InstallPlan{}, func(p *v1alpha1.InstallPlan) { p.Spec.Approved = true })
	}
	approve(0)
	w.phase(platform, versionOf("lamps", 0), v1alpha1.CSVPhaseSucceeded)

	harness.Create(t, w.confined("attack-runs-owner"), operator("attack-runs-owner", "squatter.v1", "lamps."+group))
	requirer := operator("attack-runs-requirer", "needy.v1")
	requirer.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "lamps." + group, Version: "v1", Kind: "Lamp"}}
	harness.Create(t, w.confined("attack-runs-requirer"), requirer)
	w.phase("attack-runs-owner", "squatter.v1", v1alpha1.CSVPhaseSucceeded)
	w.phase("attack-runs-requirer", "needy.v1", v1alpha1.CSVPhaseSucceeded)

	approve(1)
	p := w.planOfVersion(platform, "lamps", 1, "to end", func(p *v1alpha1.InstallPlan) bool {
		return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete || p.Status.Phase == v1alpha1.InstallPlanPhaseFailed || p.Status.Message != ""
	})
	if p.Status.Phase == v1alpha1.InstallPlanPhaseFailed || strings.Contains(p.Status.Message, "attack-runs-") {
		t.Errorf("the attack succeeds: %s: %s", p.Status.Phase, p.Status.Message)
	}
	w.phase(platform, versionOf("lamps", 1), v1alpha1.CSVPhaseSucceeded)
}
