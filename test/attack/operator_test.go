package attack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// operator is a ClusterServiceVersion with one Deployment and no permissions, which owns the named definitions: each is a name, and a version behind
// a slash where that is not v1.
func operator(namespace, name string, owned ...string) *v1alpha1.ClusterServiceVersion {
	labels := map[string]string{"app": name}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	csv.Spec.DisplayName = name
	csv.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}, {Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}}
	csv.Spec.InstallStrategy.StrategyName = v1alpha1.InstallStrategyNameDeployment
	csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []v1alpha1.StrategyDeploymentSpec{{Name: name, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "quay.io/example/" + name}}}},
	}}}
	for _, crd := range owned {
		crd, version, _ := strings.Cut(crd, "/")
		csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned,
			v1alpha1.CRDDescription{Name: crd, Version: cmp.Or(version, "v1"), Kind: kindOf(crd)})
	}
	return csv
}

// kindOf is the kind of a definition that is called like this.
func kindOf(crd string) string {
	plural, _, _ := strings.Cut(crd, ".")
	return strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
}

// installerRights are what a platform team gives an account that is to install operators in one namespace.
var installerRights = []rbacv1.PolicyRule{
	{APIGroups: []string{v1alpha1.GroupName}, Resources: []string{"clusterserviceversions", "subscriptions"}, Verbs: []string{"*"}},
	{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"*"}},
	{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets", "serviceaccounts", "services"}, Verbs: []string{"*"}},
}

// confined makes a namespace whose operators are installed with the rights of an account, and returns a client of that account. The account may
// install in its namespace, do what more rules say, and nothing elsewhere.
func (w *world) confined(namespace string, more ...rbacv1.PolicyRule) client.Client {
	w.t.Helper()
	w.namespace(namespace)
	w.group(namespace, "installer")
	harness.Create(w.t, w, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "installer"}, Rules: slices.Concat(installerRights, more)},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "installer"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "installer"}},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "installer"}})
	w.selected(namespace, namespace)
	return harness.ClientOf(w.t, w.as(account(namespace, "installer"), "system:serviceaccounts", "system:serviceaccounts:"+namespace))
}

// phase waits until a ClusterServiceVersion is in one of the phases, and returns it.
func (w *world) phase(namespace, name string, phases ...v1alpha1.ClusterServiceVersionPhase) *v1alpha1.ClusterServiceVersion {
	w.t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	must.Eventually(w.t, fmt.Sprintf("ClusterServiceVersion %s/%s to be %v", namespace, name, phases), func() error {
		if harness.Read(w.t, w, namespace, name, csv) {
			for _, p := range phases {
				if csv.Status.Phase == p {
					return nil
				}
			}
		}
		return fmt.Errorf("it is %s (%s): %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	})
	return csv
}

// reason is an error while a ClusterServiceVersion is in its phase for another reason.
func (w *world) reason(namespace, name string, want v1alpha1.ConditionReason) error {
	csv := &v1alpha1.ClusterServiceVersion{}
	if harness.Read(w.t, w, namespace, name, csv); csv.Status.Reason != want {
		return fmt.Errorf("it is %s (%s): %s", csv.Status.Phase, csv.Status.Reason, csv.Status.Message)
	}
	return nil
}

// definition makes the definition of a namespaced kind, as the administrator, which is removed when the test ends.
func (w *world) definition(plural, group string, change func(*apiextensionsv1.CustomResourceDefinition)) *apiextensionsv1.CustomResourceDefinition {
	w.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group}, Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: group, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: plural[:len(plural)-1], Kind: kindOf(plural), ListKind: kindOf(plural) + "List"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}},
	}}
	if change != nil {
		change(crd)
	}
	harness.Create(w.t, w, crd)
	w.t.Cleanup(func() { _ = w.Delete(context.Background(), crd) })
	return crd
}

// mayCreate reports whether a client may create an object, which is not stored.
func mayCreate(t testing.TB, c client.Client, o client.Object) bool {
	t.Helper()
	err := c.Create(t.Context(), o, client.DryRunAll)
	if err != nil && !apierrors.IsForbidden(err) {
		t.Fatalf("create %T %s: %v", o, o.GetName(), err)
	}
	return err == nil
}

// thing is a custom resource of a definition.
func thing(crd *apiextensionsv1.CustomResourceDefinition, namespace string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(crd.Spec.Group + "/v1")
	u.SetKind(crd.Spec.Names.Kind)
	u.SetNamespace(namespace)
	u.SetName("one")
	return u
}
