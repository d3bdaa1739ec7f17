package operatorgroup

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fixture"
)

type change = fixture.Change

// operator is a CSV with one Deployment that supports all install modes.
func (w *world) operator(namespace string, changes ...change) *v1alpha1.ClusterServiceVersion {
	return fixture.Operator(namespace, w.csv, changes...)
}

// permitted gives the operator permissions in its target namespaces.
func permitted(csv *v1alpha1.ClusterServiceVersion) {
	s := &csv.Spec.InstallStrategy.StrategySpec
	s.Permissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "account",
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}}
	s.DeploymentSpecs[0].Spec.Template.Spec.ServiceAccountName = "account"
}

// apiGroup is the API group of a kind of the test.
func (w *world) apiGroup() string { return w.Namespace + ".example.com" }

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
	for _, plural := range plurals {
		crd := fixture.Definition(plural, kindOf(plural), w.apiGroup(), "v1")
		crd.Labels = map[string]string{v1alpha1.ProvidedRolesLabel: "true"} // no InstallPlan brings it: it is opened by hand
		w.Make(crd)
		w.RemoveLater(&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}})
	}
}

// install makes an operator and waits until it runs.
func (w *world) install(namespace string, changes ...change) client.Object {
	w.Helper()
	csv := w.operator(namespace, changes...)
	w.Make(csv)
	w.In(namespace).Succeeds(w.csv)
	return csv
}
