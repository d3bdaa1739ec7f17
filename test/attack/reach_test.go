package attack

import (
	"strings"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestConfinedOperatorReachesOtherNamespaces: an account that may do everything in its namespace, and nothing elsewhere, installs an operator that asks for
// all Secrets in a group that targets more. The operator gets them in its namespace alone, until the account itself may give them elsewhere.
func TestConfinedOperatorReachesOtherNamespaces(t *testing.T) {
	w := sharedWorld(t)
	other := w.namespace("attack-reached")
	everything := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	secrets := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}}}
	for namespace, targets := range map[string][]string{"attack-everywhere": nil, "attack-two": {other, "attack-two"}} {
		t.Run(namespace, func(t *testing.T) {
			w := *w
			w.t = t
			w.namespace(namespace)
			meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
			to := func(name string) []rbacv1.Subject {
				return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}}
			}
			role := func(name string) rbacv1.RoleRef {
				return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name}
			}
			harness.Create(t, &w, &corev1.ServiceAccount{ObjectMeta: meta("installer")},
				&rbacv1.Role{ObjectMeta: meta("installer"), Rules: everything},
				&rbacv1.RoleBinding{ObjectMeta: meta("installer"), Subjects: to("installer"), RoleRef: role("installer")},
				&operatorsv1.OperatorGroup{ObjectMeta: meta("group"), Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: targets, ServiceAccountName: "installer"}})
			if targets == nil {
				w.selected(namespace, metav1.NamespaceAll)
			} else {
				w.selected(namespace, targets...)
			}
			installer := harness.ClientOf(t, w.as(account(namespace, "installer"), "system:serviceaccounts", "system:serviceaccounts:"+namespace))
			name := "of-" + namespace // a copy in the other namespace must not have the name of its operator
			csv := operator(namespace, name)
			csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: v1alpha1.InstallModeTypeMultiNamespace, Supported: true})
			csv.Spec.InstallStrategy.StrategySpec.Permissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "reacher", Rules: secrets}}
			csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template.Spec.ServiceAccountName = "reacher"
			harness.Create(t, installer, &corev1.ServiceAccount{ObjectMeta: meta("reacher")}, &rbacv1.Role{ObjectMeta: meta("reacher"), Rules: secrets},
				&rbacv1.RoleBinding{ObjectMeta: meta("reacher"), Subjects: to("reacher"), RoleRef: role("reacher")}, csv)

			failed := w.phase(namespace, name, v1alpha1.CSVPhaseFailed, v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVPhaseInstalling)
			if w.allowed(account(namespace, "reacher"), other, "", "secrets") {
				t.Fatalf("the operator has the Secrets of namespace %s; it is %s: %s", other, failed.Status.Phase, failed.Status.Message)
			}
			if failed.Status.Phase != v1alpha1.CSVPhaseFailed || !strings.Contains(failed.Status.Message, "as ServiceAccount "+namespace+"/installer") {
				t.Errorf("it is %s: %s", failed.Status.Phase, failed.Status.Message)
			}

			harness.Create(t, &w, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: namespace + "-installer"}, Subjects: to("installer"),
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}})
			w.phase(namespace, name, v1alpha1.CSVPhaseInstalling, v1alpha1.CSVPhaseSucceeded)
			if !w.allowed(account(namespace, "reacher"), other, "", "secrets") {
				t.Errorf("the account may give the Secrets of namespace %s, and the operator has not got them", other)
			}
		})
	}
}
