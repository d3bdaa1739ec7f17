package installplan

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// installedBy makes an object as a client makes it that writes whole objects.
func (w *world) installedBy(t *testing.T, manager, manifest string, o client.Object, mark func(client.Object)) {
	t.Helper()
	must.NoError(t, yaml.Unmarshal([]byte(manifest), o))
	o.SetNamespace("ns")
	mark(o)
	must.NoError(t, w.Create(t.Context(), o, client.FieldOwner(manager)))
}

// TestFieldsOfTheOtherImplementationGo upgrades what another implementation installed, which wrote whole objects: what the new
// manifests no longer have goes, or the API server would refuse them.
func TestFieldsOfTheOtherImplementationGo(t *testing.T) {
	replaced := csv("ns", "op.v0", "")
	owned := func(o client.Object) {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "op.v0", UID: replaced.UID}})
	}
	labelled := func(o client.Object) { o.SetLabels(map[string]string{v1alpha1.ManagedLabel: "true"}) }
	ownerLabel := func(o client.Object) {
		o.SetLabels(map[string]string{v1alpha1.OwnerLabel: "op.v0", v1alpha1.OwnerNamespaceLabel: "ns", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind})
	}
	for name, mark := range map[string]func(client.Object){"owned": owned, "managed": labelled, "labelled with its owner": ownerLabel} {
		for _, manager := range []string{"catalog", "olm"} {
			t.Run(name+" by "+manager, func(t *testing.T) {
				steps := []*v1alpha1.Step{
					step(t, strings.Replace(csvYAML, "displayName: Op", "replaces: op.v0", 1)),
					step(t, strings.Replace(serviceYAML, "port: 80", "name: https, port: 8443", 1)), step(t, budgetYAML),
				}
				w := newWorld(t, newPlan(steps...), replaced.DeepCopy())
				service, budget := &corev1.Service{}, &policyv1.PodDisruptionBudget{}
				w.installedBy(t, manager, strings.Replace(serviceYAML, "port: 80", "name: http, port: 8080", 1), service, mark)
				w.installedBy(t, manager, strings.Replace(budgetYAML, "maxUnavailable: 1", "minAvailable: 1", 1), budget, mark)
				hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
				w.get(t, service, "ns", "web")
				if len(service.Spec.Ports) != 1 || service.Spec.Ports[0].Name != "https" || service.Spec.Ports[0].Port != 8443 {
					t.Errorf("ports %v", service.Spec.Ports)
				}
				w.get(t, budget, "ns", "op")
				if budget.Spec.MinAvailable != nil || budget.Spec.MaxUnavailable.IntValue() != 1 {
					t.Errorf("minAvailable %v, maxUnavailable %v", budget.Spec.MinAvailable, budget.Spec.MaxUnavailable)
				}
			})
		}
	}
}

// TestFieldsOfOthersStay has somebody else's fields on what the other implementation installed.
func TestFieldsOfOthersStay(t *testing.T) {
	w := newWorld(t, newPlan(step(t, csvYAML), step(t, serviceYAML)))
	service := &corev1.Service{}
	w.installedBy(t, "catalog", serviceYAML, service, func(o client.Object) { o.SetLabels(map[string]string{v1alpha1.ManagedLabel: "true"}) })
	service.Annotations, service.Spec.ExternalIPs = map[string]string{"theirs": "x"}, []string{"192.0.2.1"}
	must.NoError(t, w.Inner.Update(t.Context(), service, client.FieldOwner("kubectl-edit")))
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
	if w.get(t, service, "ns", "web"); service.Annotations["theirs"] != "x" || len(service.Spec.ExternalIPs) != 1 {
		t.Errorf("annotations %v, addresses %v", service.Annotations, service.Spec.ExternalIPs)
	}
}
