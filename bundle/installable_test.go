package bundle

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// TestCheckInstallable: what no cluster can satisfy is refused with what is wrong, and nothing else is.
func TestCheckInstallable(t *testing.T) {
	rules := func(all ...rbacv1.PolicyRule) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.InstallStrategy.StrategySpec.ClusterPermissions = []v1alpha1.StrategyDeploymentPermissions{{ServiceAccountName: "op", Rules: all}}
		}
	}
	deployments := func(names ...string) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			for _, name := range names {
				csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = append(csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs,
					v1alpha1.StrategyDeploymentSpec{Name: name, Spec: appsv1.DeploymentSpec{}})
			}
		}
	}
	owned := func(crd string) func(*v1alpha1.ClusterServiceVersion) {
		return func(csv *v1alpha1.ClusterServiceVersion) {
			csv.Spec.CustomResourceDefinitions.Owned = []v1alpha1.CRDDescription{{Name: crd, Version: "v1", Kind: "Thing"}}
		}
	}
	for name, test := range map[string]struct {
		edit func(*v1alpha1.ClusterServiceVersion)
		want string
	}{
		"as it should be":           {func(*v1alpha1.ClusterServiceVersion) {}, ""},
		"a name as long as a label": {func(csv *v1alpha1.ClusterServiceVersion) { csv.Name = strings.Repeat("n", 63) }, ""},
		"a name that is longer": {func(csv *v1alpha1.ClusterServiceVersion) { csv.Name = strings.Repeat("n", 64) },
			"the name of the ClusterServiceVersion has 64 characters: as it is the value of labels, it may have 63"},
		"another strategy": {func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.InstallStrategy.StrategyName = "magic" },
			`spec.install.strategy "magic" is not known: the only one is "deployment"`},
		"a CRD without group":           {owned("things"), `read CRD name "things": want <plural>.<group>`},
		"a CRD of the lifecycle":        {owned("operatorgroups.operators.coreos.com"), "spec.customresourcedefinitions.owned: CustomResourceDefinition operatorgroups.operators.coreos.com: "},
		"two Deployments":               {deployments("a", "b"), ""},
		"a Deployment twice":            {deployments("a", "a"), `spec.install.spec.deployments names "a" more than once, or not at all`},
		"a Deployment without name":     {deployments(""), `spec.install.spec.deployments names "" more than once, or not at all`},
		"a rule":                        {rules(rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}}), ""},
		"a rule without verbs":          {rules(rbacv1.PolicyRule{Resources: []string{"pods"}}), `a rule for service account "op": it has no verbs: {"verbs":null,"resources":["pods"]}`},
		"a rule for resources and URLs": {rules(rbacv1.PolicyRule{Verbs: []string{"get"}, Resources: []string{"pods"}, NonResourceURLs: []string{"/x"}}), "it mixes resources and nonResourceURLs, which have to be two rules: {"},
		"a webhook's Deployment selects no pod": {func(csv *v1alpha1.ClusterServiceVersion) {
			deployments("a")(csv)
			csv.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{{DeploymentName: "a", Type: v1alpha1.ValidatingAdmissionWebhook, GenerateName: "w", ContainerPort: 443}}
		}, "the selector of Deployment a has no matchLabels"},
	} {
		csv := &v1alpha1.ClusterServiceVersion{}
		csv.Name, csv.Spec.InstallStrategy.StrategyName = "op.v1", v1alpha1.InstallStrategyNameDeployment
		test.edit(csv)
		if err := CheckInstallable(csv); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
