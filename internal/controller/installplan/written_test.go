package installplan

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestWriteThatChangesNothingIsNotWaitedFor: an API server to which a status says nothing new sends no event, which would bring a plan
// back that is taken for behind.
func TestWriteThatChangesNothingIsNotWaitedFor(t *testing.T) {
	w := newWorld(t, handMade("Manual", "lone.v1.0.0"), catalogSource("ns", "cat", 0))
	w.controller.client = interceptor.NewClient(w.WithWatch, interceptor.Funcs{ // no fault lets a write succeed that changes nothing
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return nil
		},
	})
	must.Value(w.reconcile(t))(t)
	if p := w.plan(t, "plan"); len(p.Status.Conditions) > 0 {
		t.Fatalf("it was written: %+v", p.Status)
	}
	w.controller.client = w.WithWatch
	if p := w.settle(t, time.Minute); p.Status.Message == "" || len(p.Status.Conditions) == 0 {
		t.Errorf("it is never looked at again: %+v", p.Status)
	}
}

// TestWarningsAreToldOnce has the status that tells what was done not be written at first: what the API server warned about is told,
// and counted, once, and when the status is there.
func TestWarningsAreToldOnce(t *testing.T) {
	strange := step(t, strings.Replace(serviceYAML, "selector:", "selektor:", 1))
	there := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{"olm.managed": "true"}}}
	w := newWorld(t, there, newPlan(step(t, csvYAML), strange))
	refuse := true
	w.Fault(func(what string, after bool) error {
		if refuse && what == reported && !after {
			return errors.New("away")
		}
		return nil
	})
	for range 3 {
		if _, err := w.reconcile(t); err == nil {
			t.Fatal("the status was written")
		}
		if n, counted := len(w.Events.Events), scraped(t, w.controller.Metrics, "installplan_warnings_total"); n != 0 || counted != 0 {
			t.Errorf("%d Events and %v counted before the status was written", n, counted)
		}
	}
	refuse = false
	for range 3 {
		must.Value(w.reconcile(t))(t)
	}
	if n, counted := len(w.Events.Events), scraped(t, w.controller.Metrics, "installplan_warnings_total"); n != 1 || counted != 1 {
		t.Errorf("%d Events, %v counted; want one", n, counted)
	}
}

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
			must.Empty(t, "writes", slices.DeleteFunc(w.Taken(), func(s string) bool { return s == reported }))
			role := &rbacv1.ClusterRole{}
			w.get(t, role, "", "op.v1-1")
			role.Finalizers, role.Labels = nil, map[string]string{v1alpha1.ManagedLabel: "true"}
			must.NoError(t, w.Inner.Update(t.Context(), role))
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

// TestServiceAccountsAreShared: an operator uses an account that is there already, and the account goes with the operator only if it is
// not a user's.
func TestServiceAccountsAreShared(t *testing.T) {
	other := metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "other.v1", UID: "other"}
	tests := map[string]struct {
		labels  map[string]string
		owners  []metav1.OwnerReference
		want    []string
		managed bool
	}{
		"a user's":                     {map[string]string{"app": "mine"}, nil, nil, false},
		"a user's, given to operators": {map[string]string{v1alpha1.ManagedLabel: "true"}, nil, []string{"op.v1"}, true},
		"another operator's":           {nil, []metav1.OwnerReference{other}, []string{"op.v1", "other.v1"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op", Labels: tc.labels, OwnerReferences: tc.owners}}
			w := newWorld(t, account, newPlan(step(t, csvYAML), step(t, accountYAML)))
			for _, pass := range []string{"first", "second"} { // the first must not leave what the second takes for a sign
				p := w.settle(t, time.Minute)
				hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
				got := &corev1.ServiceAccount{}
				w.get(t, got, "ns", "op")
				checkOwners(t, pass, got.OwnerReferences, tc.want)
				if is := got.Labels[v1alpha1.ManagedLabel] == "true"; is != tc.managed {
					t.Errorf("%s pass: labels %v", pass, got.Labels)
				}
				again := newPlan(step(t, csvYAML), step(t, accountYAML))
				p.Status = again.Status
				must.NoError(t, w.Inner.Status().Update(t.Context(), p))
			}
		})
	}
}

func checkOwners(t *testing.T, pass string, got []metav1.OwnerReference, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s pass: owners %+v, want %v", pass, got, want)
		return
	}
	for i, name := range want {
		if got[i].Name != name || got[i].UID == "" {
			t.Errorf("%s pass: owner %+v, want %s", pass, got[i], name)
		}
	}
}
