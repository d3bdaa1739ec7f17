package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

// TestMissingPoliciesLetNoOneIn: with the shipped policies an editor of ClusterExtensions cannot have the manager install with its own rights.
// An administrator deletes the binding of the policy that says so, or lets it audit only. The editor's extension is stored then, and stays
// blocked: the condition names the policy.
func TestMissingPoliciesLetNoOneIn(t *testing.T) {
	w := newWorld(t)
	w.run(nil)
	namespace := w.namespace("attack-policies")
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "clusterextension-editor-role"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "mallory"}}}
	harness.Create(t, w, binding)
	t.Cleanup(func() { _ = w.Delete(context.Background(), binding) })
	w.serveSamples(namespace)
	mallory := harness.ClientOf(t, w.as("mallory"))
	for name, test := range map[string]struct {
		account string
		policy  string
		weaken  func(b *admissionv1.ValidatingAdmissionPolicyBinding) error
	}{
		"no account, the binding deleted": {"", permissions.ExtensionIdentity, func(b *admissionv1.ValidatingAdmissionPolicyBinding) error { return w.Delete(t.Context(), b) }},
		"no account, the binding audits": {"", permissions.ExtensionIdentity, func(b *admissionv1.ValidatingAdmissionPolicyBinding) error {
			b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Audit}
			return w.Update(t.Context(), b)
		}},
		"another's account": {"powerful", permissions.ExtensionAccounts, func(b *admissionv1.ValidatingAdmissionPolicyBinding) error { return w.Delete(t.Context(), b) }},
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			t.Cleanup(func() { // Apply the shipped policies, and waits until the manager may be asked again.
				for _, o := range harness.Kustomized(w.t, config) {
					if !strings.HasPrefix(o.GetKind(), "ValidatingAdmissionPolicy") {
						continue
					}
					if err := w.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("kubectl"), client.ForceOwnership); err != nil {
						w.t.Errorf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
					}
				}
			})
			ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: olmv1.ClusterExtensionSpec{Namespace: namespace,
				Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "greeter-operator"}}}}
			if test.account != "" {
				ext.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: test.account}
				harness.Create(t, w, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: test.account}})
			}
			must.Eventually(t, "the policies to be in force", func() error { // those restored by the test before take a moment
				if err := mallory.Create(t.Context(), ext.DeepCopy(), client.DryRunAll); !apierrors.IsForbidden(err) {
					return fmt.Errorf("the editor is let in: %w", err)
				}
				return nil
			})
			b := &admissionv1.ValidatingAdmissionPolicyBinding{}
			must.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: test.policy}, b))
			must.NoError(t, test.weaken(b))
			must.Eventually(t, "the API server to let the editor in", func() error { return mallory.Create(t.Context(), ext.DeepCopy()) })
			t.Cleanup(func() { // Delete an extension and waits until it is gone.
				if err := w.Delete(context.Background(), ext); client.IgnoreNotFound(err) != nil {
					w.t.Error(err)
				}
				must.Eventually(w.t, "the extension to be gone", func() error {
					if err := w.Get(context.Background(), client.ObjectKeyFromObject(ext), ext); !apierrors.IsNotFound(err) {
						return fmt.Errorf("it is there: %w", err)
					}
					return nil
				})
			}) // before the policies are restored
			harness.Await(t, w, client.ObjectKeyFromObject(ext), ext, "the extension to be blocked", func() error {
				var sets olmv1.ClusterObjectSetList
				if err := w.List(t.Context(), &sets); err != nil {
					return err
				}
				if len(sets.Items) > 0 {
					t.Fatalf("the manager has made revision %s for the editor: %v", sets.Items[0].Name, ext.Status.Conditions)
				}
				p := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeProgressing)
				if p == nil || p.Reason != olmv1.ReasonBlocked || !strings.Contains(p.Message, "ValidatingAdmissionPolicy "+test.policy+" has no ValidatingAdmissionPolicyBinding") {
					return fmt.Errorf("its conditions are %v", ext.Status.Conditions)
				}
				return nil
			})
		})
	}
}

// serveSamples serves the sample operators as a ClusterCatalog.
func (w *world) serveSamples(name string) {
	w.t.Helper()
	ref, _ := fixture.Samples(w.t, bundleio.Publisher{Registry: w.registry}, name, nil)
	object := w.clusterCatalog(name, ref)
	harness.Await(w.t, w, client.ObjectKeyFromObject(object), object, "the catalog to be served", func() error {
		if !meta.IsStatusConditionTrue(object.Status.Conditions, olmv1.TypeServing) {
			return fmt.Errorf("its conditions are %v", object.Status.Conditions)
		}
		return nil
	})
}
