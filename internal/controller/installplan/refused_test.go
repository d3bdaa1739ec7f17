package installplan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// convertedCRD has a conversion webhook that belongs to no operator.
func convertedCRD(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	live := liveCRD(t, "v1 served", "v1")
	live.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter, Webhook: &apiextensionsv1.WebhookConversion{
		ConversionReviewVersions: []string{"v1"},
		ClientConfig:             &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "x", Name: "y", Port: new(int32(443)), Path: new("/convert")}},
	}}
	return live
}

// TestRefusedPlanDoesNothing: an object that may not be had is found out before a CRD is changed, and once it may be had the plan goes on.
func TestRefusedPlanDoesNothing(t *testing.T) {
	users := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "op.v1-1"}}
	leaving := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "op.v1-1", Finalizers: []string{"x/y"}, DeletionTimestamp: at(0), Labels: map[string]string{v1alpha1.ManagedLabel: "true"}}}
	tests := map[string]struct {
		role    *rbacv1.ClusterRole
		message string
	}{
		"a user's":               {users, "retrying execution due to error: ClusterRole op.v1-1 is wanted by ClusterServiceVersion op.v1 but exists"},
		"one that is going away": {leaving, "waiting: ClusterRole op.v1-1 is being deleted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, convertedCRD(t), tc.role, newPlan(step(t, csvYAML), step(t, crdYAML+"\n  conversion: {strategy: None}"), step(t, clusterRoleYAML)))
			p := w.settle(t, 30*time.Second)
			if !strings.HasPrefix(p.Status.Message, tc.message) {
				t.Errorf("message %q, want %q", p.Status.Message, tc.message)
			}
			if writes := slices.DeleteFunc(w.taken(), func(s string) bool { return s == "status of plan" }); len(writes) > 0 {
				t.Errorf("writes %v", writes)
			}
			role := &rbacv1.ClusterRole{}
			w.get(t, role, "", "op.v1-1")
			role.Finalizers, role.Labels = nil, map[string]string{v1alpha1.ManagedLabel: "true"}
			if err := w.Update(t.Context(), role); err != nil {
				t.Fatal(err)
			}
			if p = w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if w.get(t, crd, "", "widgets.example.com"); crd.Spec.Conversion.Webhook != nil {
				t.Errorf("the webhook stays: %+v", crd.Spec.Conversion)
			}
		})
	}
}
