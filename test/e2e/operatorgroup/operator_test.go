package operatorgroup

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

type change func(*v1alpha1.ClusterServiceVersion)

// operator is a CSV with one Deployment that supports all install modes.
func (w *world) operator(namespace string, changes ...change) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.csv}}
	csv.Spec.DisplayName = "Operator"
	supporting("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")(csv)
	labels := map[string]string{"app": "manager"}
	csv.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{StrategyName: "deployment", StrategySpec: v1alpha1.StrategyDetailsDeployment{
		DeploymentSpecs: []v1alpha1.StrategyDeploymentSpec{{Name: "manager", Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "example.com/manager:1"}}}},
		}}},
	}}
	for _, change := range changes {
		change(csv)
	}
	return csv
}

func supporting(modes ...v1alpha1.InstallModeType) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.InstallModes = nil
		for _, mode := range modes {
			csv.Spec.InstallModes = append(csv.Spec.InstallModes, v1alpha1.InstallMode{Type: mode, Supported: true})
		}
	}
}

// permitted gives the operator permissions in its target namespaces.
func permitted(csv *v1alpha1.ClusterServiceVersion) {
	s := &csv.Spec.InstallStrategy.StrategySpec
	s.Permissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "account",
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}}
	s.DeploymentSpecs[0].Spec.Template.Spec.ServiceAccountName = "account"
}

// permissions makes what an InstallPlan makes for a CSV that is in the cluster, and returns the name of its Role.
func (w *world) permissions(csv *v1alpha1.ClusterServiceVersion) string {
	w.Helper()
	accounts, err := bundle.RBAC(csv)
	if err != nil {
		w.Fatal(err)
	}
	var role string
	for _, a := range accounts {
		w.make(a.ServiceAccount)
		for i := range a.Roles {
			role = a.Roles[i].Name
			w.make(a.Roles[i], a.RoleBindings[i])
		}
	}
	return role
}

// apiGroup is the API group of a kind of the test.
func (w *world) apiGroup() string { return w.own + ".example.com" }

// providing makes the operator own kinds.
func (w *world) providing(plurals ...string) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		for _, plural := range plurals {
			csv.Spec.CustomResourceDefinitions.Owned = append(csv.Spec.CustomResourceDefinitions.Owned,
				v1alpha1.CRDDescription{Name: plural + "." + w.apiGroup(), Version: "v1", Kind: kindOf(plural)})
		}
	}
}

// api is a kind as an OperatorGroup lists it.
func (w *world) api(plural string) string { return kindOf(plural) + ".v1." + w.apiGroup() }

func kindOf(plural string) string { return "K" + plural }

// crds makes the definitions of kinds, which go with the test.
func (w *world) crds(plurals ...string) {
	w.Helper()
	preserve := true
	for _, plural := range plurals {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + w.apiGroup(),
			Labels: map[string]string{v1alpha1.ProvidedRolesLabel: "true"}}} // no InstallPlan brings it: it is opened by hand
		crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
			Group: w.apiGroup(), Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: plural + "one", Kind: kindOf(plural), ListKind: kindOf(plural) + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}}}},
		}
		w.make(crd)
		w.removeLater(&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}})
	}
}

// install makes an operator and waits until it runs.
func (w *world) install(namespace string, changes ...change) client.Object {
	w.Helper()
	csv := w.operator(namespace, changes...)
	w.make(csv)
	w.succeeds(namespace, w.csv)
	return csv
}
