package clusterserviceversion

import (
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type change = fixture.Change

// operator is a CSV with one Deployment, a permission and a cluster permission, that supports all install modes.
func (w *world) operator(name string, changes ...change) *v1alpha1.ClusterServiceVersion {
	rule := func(resource string) []v1alpha1.StrategyDeploymentPermissions {
		return []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "account",
			Rules: []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{resource}}}}}
	}
	permitted := strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		s.Permissions, s.ClusterPermissions = rule("pods"), rule("nodes")
	})
	return fixture.Operator(w.Namespace, name, append([]change{permitted, fixture.Account("account")}, changes...)...)
}

// withDeployments are the names of the Deployments, whose pods have the account.
func withDeployments(names ...string) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		fixture.Deployments(names...)(csv)
		fixture.Account("account")(csv)
	}
}

// crd serves the versions; the last one is stored.
func (w *world) crd(versions ...string) *apiextensionsv1.CustomResourceDefinition {
	return fixture.Definition("things", "Thing", w.group, versions...)
}

// strategy changes the install strategy.
func strategy(f func(*v1alpha1.StrategyDetailsDeployment)) change {
	return func(csv *v1alpha1.ClusterServiceVersion) { f(&csv.Spec.InstallStrategy.StrategySpec) }
}

func withImage(image string) change {
	return strategy(func(s *v1alpha1.StrategyDetailsDeployment) {
		s.DeploymentSpecs[0].Spec.Template.Spec.Containers[0].Image = image
	})
}

func withoutPermissions(csv *v1alpha1.ClusterServiceVersion) {
	s := &csv.Spec.InstallStrategy.StrategySpec
	s.Permissions, s.ClusterPermissions = nil, nil
	for i := range s.DeploymentSpecs {
		s.DeploymentSpecs[i].Spec.Template.Spec.ServiceAccountName = ""
	}
}

// crdName is the name of a CRD of the test.
func (w *world) crdName(plural string) string { return plural + "." + w.group }

func (w *world) owns(versions ...string) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Owned = w.descriptions(versions)
	}
}

func (w *world) requires(versions ...string) change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		csv.Spec.CustomResourceDefinitions.Required = w.descriptions(versions)
	}
}

func (w *world) descriptions(versions []string) []v1alpha1.CRDDescription {
	var out []v1alpha1.CRDDescription
	for _, version := range versions {
		out = append(out, v1alpha1.CRDDescription{Name: w.crdName("things"), Version: version, Kind: "Thing"})
	}
	return out
}

// makeCRD makes the CRD and lets it go with the test.
func (w *world) makeCRD(versions ...string) {
	w.Helper()
	crd := w.crd(versions...)
	w.Make(crd)
	w.RemoveLater(crd)
}

func (w *world) thing(name string, finalizers ...string) *unstructured.Unstructured {
	thing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.group + "/v1", "kind": "Thing"}}
	thing.SetNamespace(w.Namespace)
	thing.SetName(name)
	thing.SetFinalizers(finalizers)
	return thing
}

// permissions are what an InstallPlan makes for a CSV, which has to be in the cluster.
func (w *world) permissions(csv *v1alpha1.ClusterServiceVersion) []client.Object {
	w.Helper()
	accounts := must.Value(bundle.RBAC(csv))(w)
	var out []client.Object
	for _, a := range accounts {
		if a.ServiceAccount != nil && !w.Read(a.Name, &corev1.ServiceAccount{}) {
			out = append(out, a.ServiceAccount)
		}
		for i := range a.Roles {
			out = append(out, a.Roles[i], a.RoleBindings[i])
		}
		for i := range a.ClusterRoles {
			out = append(out, a.ClusterRoles[i], a.ClusterRoleBindings[i])
		}
	}
	return out
}

// install makes a CSV with its permissions. A service account that is there already is shared, as InstallPlans do.
func (w *world) install(csv *v1alpha1.ClusterServiceVersion) {
	w.Helper()
	w.Make(csv)
	account := &corev1.ServiceAccount{}
	if w.Read("account", account) {
		edit(w, "account", account, func(a *corev1.ServiceAccount) {
			a.OwnerReferences = append(a.OwnerReferences, bundle.OwnerReference(csv))
		})
	}
	w.Make(w.permissions(csv)...)
}

func (w *world) deployment(name string) *appsv1.Deployment {
	w.Helper()
	d := &appsv1.Deployment{}
	if !w.Read(name, d) {
		return nil
	}
	return d
}

// row is the requirement row of a kind and name.
func row(csv *v1alpha1.ClusterServiceVersion, kind, name string) v1alpha1.RequirementStatus {
	for _, r := range csv.Status.RequirementStatus {
		if r.Kind == kind && r.Name == name {
			return r
		}
	}
	return v1alpha1.RequirementStatus{}
}

// waits checks that a CSV waits for a requirement: the row, and what its message says.
func (w *world) waits(name, kind, requirement string, want v1alpha1.StatusReason, message string) {
	w.Helper()
	must.Eventually(w, fmt.Sprintf("%s to wait for %s %s", name, kind, requirement), func() error {
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := w.Check(csv, name, v1alpha1.CSVPhasePending, v1alpha1.CSVReasonRequirementsNotMet); err != nil {
			return err
		}
		if got := row(csv, kind, requirement); got.Status != want || got.Message != message {
			return fmt.Errorf("the row says %q %q, want %q %q", got.Status, got.Message, want, message)
		}
		return nil
	})
}
