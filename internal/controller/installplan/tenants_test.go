package installplan

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const otherwise = "CustomResourceDefinition widgets.example.com is owned by ClusterServiceVersion elsewhere/op.v0, and ClusterServiceVersion ns/op.v1 defines it otherwise, " +
	"while a cluster has one definition for all namespaces: v1: ^.size: added; "

// sized is the CRD with a field that crdYAML does not have.
func sized() string {
	return strings.Replace(crdYAML, "{type: object}", "{type: object, properties: {size: {type: integer}}}", 1)
}

// unchanged makes sure that the CRD is as the tenant who was there first brought it.
func unchanged(t *testing.T, w *world) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if !w.get(t, crd, "", "widgets.example.com") || len(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties) > 0 {
		t.Errorf("the CRD is changed: %+v", crd.Spec)
	}
	if w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1") {
		t.Error("the ClusterServiceVersion was made although its API is refused")
	}
}

// shared is the CRD that plans brought for op.v0 of both namespaces.
func shared(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := liveCRD(t, "v1 served", "v1")
	crd.Annotations = alongside("ns/op.v0", "elsewhere/op.v0")
	return crd
}

// TestTenantsWithDifferentDefinitions: the second one is refused before anything is written, and both are named. It goes on once the first
// one is upgraded to the same definition.
func TestTenantsWithDifferentDefinitions(t *testing.T) {
	w := newWorld(t, shared(t), csv("elsewhere", "op.v0", "", "widgets.example.com"), newPlan(step(t, csvYAML), step(t, sized())))
	must.Value(w.reconcile(t))(t)
	if p := w.plan(t, "plan"); !strings.Contains(p.Status.Message, otherwise) || !strings.Contains(p.Status.Message, "or upgrade ClusterServiceVersion elsewhere/op.v0 to this one first, or remove it") {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	unchanged(t, w)
	if p := w.settle(t, 2*time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.HasPrefix(p.Status.Message, otherwise) {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	unchanged(t, w)

	crd := &apiextensionsv1.CustomResourceDefinition{}
	w.get(t, crd, "", "widgets.example.com")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties = map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer"}}
	must.NoError(t, w.Inner.Update(t.Context(), crd))
	must.NoError(t, w.Inner.Delete(t.Context(), w.plan(t, "plan")))
	must.NoError(t, w.Create(t.Context(), newPlan(step(t, csvYAML), step(t, sized()))))
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}

// TestAnOwnerMayUpgradeASharedDefinition: for who owns it already, the rules of shared CRDs count.
func TestAnOwnerMayUpgradeASharedDefinition(t *testing.T) {
	replacing := strings.Replace(csvYAML, "displayName: Op", "displayName: Op\n  replaces: op.v0", 1)
	for name, mine := range map[string]string{"the one that is replaced": "op.v0", "itself": "op.v1"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, shared(t), csv("elsewhere", "op.v0", "", "widgets.example.com"), csv("ns", mine, "", "widgets.example.com"),
				newPlan(step(t, replacing), step(t, sized())))
			hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
		})
	}
}

// TestTwoTenantsAtOnce: the plan of another namespace has written the CRD and is about to write its operator.
func TestTwoTenantsAtOnce(t *testing.T) {
	live := liveCRD(t, "v1 served", "v1")
	live.Annotations = map[string]string{bundle.InstalledAlongsideKey("elsewhere", "op.v0"): "elsewhere/op.v0"}
	rival := newPlan()
	rival.Namespace, rival.Name, rival.Spec.ClusterServiceVersionNames = "elsewhere", "rival", []string{"op.v0"}
	w := newWorld(t, live, rival, newPlan(step(t, csvYAML), step(t, sized())))
	must.Value(w.reconcile(t))(t)
	must.Contain(t, "message", w.plan(t, "plan").Status.Message, otherwise)
	unchanged(t, w)
	must.NoError(t, w.Get(t.Context(), client.ObjectKeyFromObject(rival), rival))
	rival.Status.Phase = v1alpha1.InstallPlanPhaseFailed
	must.NoError(t, w.Inner.Status().Update(t.Context(), rival))
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Errorf("%s: %s, though the other one has failed", p.Status.Phase, p.Status.Message)
	}
}

// TestDifferentDefinitionsAreToldBeforeApproval, and no longer when the other operator is gone.
func TestDifferentDefinitionsAreToldBeforeApproval(t *testing.T) {
	plan := newPlan(step(t, csvYAML), step(t, sized()))
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	other := csv("elsewhere", "op.v0", "", "widgets.example.com")
	w := newWorld(t, shared(t), other, plan)
	if p := w.settle(t, time.Minute); !strings.HasPrefix(p.Status.Message, v1alpha1.NotWorthApproving+otherwise) || p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	w.Taken()
	w.settle(t, time.Minute)
	must.Empty(t, "it is written again", w.Taken())
	if got := w.watcher().awaitingOperators(t.Context(), other); len(got) != 1 || got[0].Name != "plan" {
		t.Errorf("the other operator wakes %v", got)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), other))
	must.Equal(t, "message", w.settle(t, time.Minute).Status.Message, "")
	must.Empty(t, "nothing is told, and yet an operator elsewhere wakes", w.watcher().awaitingOperators(t.Context(), other))
}
