package attack

import (
	"context"
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestConfinedTenantConvertsAForeignCRD: the account of an OperatorGroup creates an operator whose conversion webhook names the CRD of a platform team. All
// custom resources of the cluster would be sent to it. It is refused while no plan brought the CRD, and still when the platform team lets the namespace adopt
// the CRD; with the right to patch the CRD it is done, which shows that nothing else stands in the way.
func TestConfinedTenantConvertsAForeignCRD(t *testing.T) {
	const namespace, name = "attack-convert", "reader.v1"
	w := sharedWorld(t)
	installer := w.confined(namespace)
	harness.Edit(t, w, namespace, "group", &operatorsv1.OperatorGroup{}, func(g *operatorsv1.OperatorGroup) { g.Spec.TargetNamespaces = nil })
	w.selected(namespace, metav1.NamespaceAll)
	// Let an account of a namespace install operators that serve webhooks: these get a Role for their certificate, and may ask who
	// calls them.
	w.t.Helper()
	rbac := func(verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{rbacv1.GroupName}, Resources: resources, Verbs: verbs}
	}
	all, delegator, reader := []string{"*"}, rbac([]string{"bind"}, "clusterroles"), rbac([]string{"bind"}, "roles")
	delegator.ResourceNames, reader.ResourceNames = []string{"system:auth-delegator"}, []string{"extension-apiserver-authentication-reader"}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "installer"}}
	w.grant("attack-serve", namespace, "installer", rbac([]string{"get", "create", "patch", "delete"}, "clusterrolebindings"), delegator)
	for in, rules := range map[string][]rbacv1.PolicyRule{namespace: {rbac(all, "rolebindings"), rbac([]string{"get", "create", "patch", "delete"}, "roles")},
		metav1.NamespaceSystem: {rbac(all, "rolebindings"), reader}} {
		meta := metav1.ObjectMeta{Namespace: in, Name: "attack-serve"}
		role := &rbacv1.Role{ObjectMeta: meta, Rules: rules}
		binding := &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}}
		harness.Create(w.t, w, role, binding)
		w.t.Cleanup(func() { _ = w.Delete(context.Background(), role); _ = w.Delete(context.Background(), binding) })
	}
	crd := w.definition("ledgers", "convert.attack.example.com", nil)
	csv, none := operator(namespace, name, crd.Name), admissionv1.SideEffectClassNone
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}}
	csv.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{{GenerateName: "c.attack.example.com", Type: v1alpha1.ConversionWebhook, DeploymentName: name,
		ContainerPort: 443, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}, ConversionCRDs: []string{crd.Name}}}
	harness.Create(t, installer, csv)

	w.message(namespace, name, "no InstallPlan brought the CRD")
	w.never("the operator converts the CRD", func() bool { return w.converts(crd.Name, namespace) })

	harness.Edit(t, w, "", crd.Name, &apiextensionsv1.CustomResourceDefinition{}, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Annotations = map[string]string{v1alpha1.AdoptableByAnnotation: namespace}
	})
	w.message(namespace, name, "so converting it takes an account that may patch it")
	w.never("the operator converts the CRD", func() bool { return w.converts(crd.Name, namespace) })

	w.grant("attack-convert-patch", namespace, "installer",
		rbacv1.PolicyRule{APIGroups: []string{"apiextensions.k8s.io"}, Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{crd.Name}, Verbs: []string{"patch"}})
	w.phase(namespace, name, v1alpha1.CSVPhaseSucceeded)
	if !w.converts(crd.Name, namespace) {
		t.Error("with an account that may patch the CRD the operator does not convert it either: the attack shows nothing")
	}
}

// converts reports whether a Service of a namespace converts a CRD.
func (w *world) converts(name, namespace string) bool {
	w.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	harness.Read(w.t, w, "", name, crd)
	c := crd.Spec.Conversion
	return c != nil && c.Webhook != nil && c.Webhook.ClientConfig.Service.Namespace == namespace
}

// message waits until the status of a ClusterServiceVersion says something.
func (w *world) message(namespace, name, want string) {
	w.t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	must.Eventually(w.t, "ClusterServiceVersion "+namespace+"/"+name+" to say "+want, func() error {
		harness.Read(w.t, w, namespace, name, csv)
		if strings.Contains(csv.Status.Message, want) {
			return nil
		}
		return w.reason(namespace, name, "")
	})
}
