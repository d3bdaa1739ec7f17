package registryv1

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// listing is what was rendered, an object a line.
func listing(out *Rendered) []string {
	var lines []string
	for _, object := range out.Objects {
		line := object.GetKind() + " "
		if object.GetNamespace() != "" {
			line += object.GetNamespace() + "/"
		}
		lines = append(lines, line+object.GetName())
	}
	return lines
}

// TestOrder holds which objects there are, under which names, for each way of watching and of making certificates.
func TestOrder(t *testing.T) {
	everything := func(b *bundle.Bundle) {
		b.CSV.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{hook(mutating, "m.example.com"), hook(validating, "v.example.com-")}
		b.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{
			{Name: "gadgets", Group: "apis.example.com", Version: "v1", Kind: "Gadget", DeploymentName: "op.manager", ContainerPort: 5443},
			{Name: "gears", Group: "apis.example.com", Version: "v1", Kind: "Gear", DeploymentName: "op.manager", ContainerPort: 5443},
		}
		b.Objects = append(b.Objects,
			manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: elsewhere}}"),
			manifest(t, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high, namespace: elsewhere}}"),
			manifest(t, "{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: scaler}}"))
	}
	tests := map[string]struct {
		o    Options
		want []string
	}{
		"all namespaces": {Options{}, []string{
			"ServiceAccount operators/manager",
			"ClusterRole " + hashed(t, 1), "ClusterRoleBinding " + hashed(t, 1), "ClusterRole " + hashed(t, 2), "ClusterRoleBinding " + hashed(t, 2),
		}},
		"two namespaces": {Options{Config: json.RawMessage(`{"watchNamespaces": ["b", "a"]}`)}, []string{
			"ServiceAccount operators/manager",
			"Role a/" + hashed(t, 0), "RoleBinding a/" + hashed(t, 0), "Role b/" + hashed(t, 0), "RoleBinding b/" + hashed(t, 0),
			"ClusterRole " + hashed(t, 1), "ClusterRoleBinding " + hashed(t, 1),
		}},
		"certificates of cert-manager": {Options{Certificates: CertManager, OperatorCondition: "mine"}, []string{
			"ServiceAccount operators/manager",
			"ClusterRole " + hashed(t, 1), "ClusterRoleBinding " + hashed(t, 1), "ClusterRole " + hashed(t, 2), "ClusterRoleBinding " + hashed(t, 2),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := append(test.want, "CustomResourceDefinition widgets.example.com", "ConfigMap operators/settings", "PriorityClass high", "VerticalPodAutoscaler operators/scaler")
			if test.o.OperatorCondition != "" {
				want = append(want, "OperatorCondition operators/mine")
			}
			want = append(want, "Deployment operators/op.manager", "ValidatingWebhookConfiguration v.example.com", "MutatingWebhookConfiguration m.example.com",
				"Service operators/op-manager-service", "ClusterRoleBinding op-manager-service-system:auth-delegator", "RoleBinding kube-system/op-manager-service-auth-reader",
				"APIService v1.apis.example.com")
			if test.o.Certificates == CertManager {
				want = append(want, "Issuer operators/op-manager-service-cert-selfsigned-issuer", "Certificate operators/op-manager-service-cert")
			}
			if diff := cmp.Diff(want, listing(mustRender(t, loadTest(t, everything), test.o))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// hashed is the name of the role for a permission of the test bundle: the permission, the cluster permission, and the permission for all
// namespaces. The JSON is written by hand, as the published implementation encodes it.
func hashed(t *testing.T, which int) string {
	t.Helper()
	text := []string{
		`{"serviceAccountName":"manager","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`,
		`{"serviceAccountName":"manager","rules":[{"verbs":["list"],"apiGroups":[""],"resources":["nodes"]}]}`,
		`{"serviceAccountName":"manager","rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]},{"verbs":["get","list","watch"],"apiGroups":[""],"resources":["namespaces"]}]}`,
	}[which] + "\n"
	sum := sha256.Sum224([]byte(text))
	hash := new(big.Int).SetBytes(sum[:]).Text(36)
	base := "op.v1.2.3-manager"
	return base[:min(len(base), 62-len(hash))] + "-" + hash
}

// TestRoleNames holds where names are cut: never more than 63 characters, and never the hash.
func TestRoleNames(t *testing.T) {
	permission := v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: "a", Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}}}}
	plain, err := roleName("x", permission)
	if err != nil {
		t.Fatal(err)
	}
	hash := strings.TrimPrefix(plain, "x-a-")
	if len(hash) < 40 || hash == plain {
		t.Fatalf("name %q", plain)
	}
	for length := 1; length < 40; length++ {
		name, err := roleName(strings.Repeat("x", length), permission)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.Repeat("x", length) + "-a-" + hash
		switch {
		case len(whole) <= 63 && name != whole:
			t.Errorf("name %q, want %q", name, whole)
		case len(whole) > 63 && (len(name) != 63 || !strings.HasSuffix(name, "-"+hash)):
			t.Errorf("name %q has %d characters", name, len(name))
		}
	}
	other, err := roleName("x", v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: "a"})
	if err != nil || other == plain {
		t.Errorf("two permissions have the name %q, error %v", other, err)
	}
}

// TestPublishedRoleName is the name that the published implementation gives to the role for leader election of a well-known bundle: clusters
// that are taken over keep their roles.
func TestPublishedRoleName(t *testing.T) {
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	name, err := roleName("argocd-operator.v0.6.0", v1alpha1.StrategyDeploymentPermissions{
		ServiceAccountName: "argocd-operator-controller-manager",
		Rules: []rbacv1.PolicyRule{
			{Verbs: all, APIGroups: []string{""}, Resources: []string{"configmaps"}},
			{Verbs: all, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
			{Verbs: []string{"create", "patch"}, APIGroups: []string{""}, Resources: []string{"events"}},
		},
	})
	if want := "argocd-operator.v0-22gmilmgp91wu25is5i2ec598hni8owq3l71bbkl7iz3"; err != nil || name != want {
		t.Errorf("name %q, error %v, want %q", name, err, want)
	}
}

func TestServiceAccounts(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		strategy := &b.CSV.Spec.InstallStrategy.StrategySpec
		strategy.Permissions = append(strategy.Permissions,
			v1alpha1.StrategyDeploymentPermissions{Rules: strategy.Permissions[0].Rules},
			v1alpha1.StrategyDeploymentPermissions{ServiceAccountName: "given", Rules: strategy.Permissions[0].Rules},
			strategy.Permissions[0])
		b.Objects = append(b.Objects, manifest(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: given, labels: {a: b}}, imagePullSecrets: [{name: pull}]}"))
	})
	out := mustRender(t, b, Options{Config: json.RawMessage(`{"watchNamespace": "operators"}`)})
	count := map[string]int{}
	for _, object := range out.Objects {
		count[object.GetKind()]++
	}
	if diff := cmp.Diff(map[string]int{"ServiceAccount": 2, "Role": 3, "RoleBinding": 3, "ClusterRole": 1, "ClusterRoleBinding": 1, "CustomResourceDefinition": 1, "Deployment": 1}, count); diff != "" {
		t.Error(diff)
	}
	if given := find(t, out, "ServiceAccount", "operators", "given"); given["imagePullSecrets"] == nil {
		t.Errorf("the account of the bundle is %v", given)
	}
	for _, object := range out.Objects {
		if object.GetKind() == "RoleBinding" && strings.HasPrefix(object.GetName(), "op.v1.2.3-default") {
			if diff := cmp.Diff("- kind: ServiceAccount\n  name: default\n  namespace: operators\n", yamlOf(t, object.Object["subjects"])); diff != "" {
				t.Error(diff)
			}
			return
		}
	}
	t.Error("the default account has no binding")
}

func TestProperties(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		b.CSV.Annotations["olm.properties"] = `[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]`
		b.Properties = []catalog.Property{{Type: "a", Value: json.RawMessage(`{"b":"<"}`)}}
	})
	const want = `[{"type":"olm.maxOpenShiftVersion","value":"4.20"},{"type":"a","value":{"b":"<"}}]`
	if got := string(mustRender(t, b, Options{}).Properties); got != want {
		t.Errorf("properties %s, want %s", got, want)
	}
	if got := mustRender(t, loadTest(t, nil), Options{}).Properties; got != nil {
		t.Errorf("properties %s, want none", got)
	}
}

// TestSameNames holds that no two objects are rendered that would be one.
func TestSameNames(t *testing.T) {
	name := hashed(t, 1)
	b := loadTest(t, func(b *bundle.Bundle) {
		b.Objects = append(b.Objects, manifest(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: "+name+"}}"))
	})
	_, err := Render(b, Options{Namespace: "operators"})
	if want := "invalid bundle op.v1.2.3: ClusterRole " + name + ": a manifest of the bundle has the name that the operator's own object needs; rename it"; err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}

func TestOperatorCondition(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		strategy := &b.CSV.Spec.InstallStrategy.StrategySpec
		strategy.DeploymentSpecs[0].Spec.Template.Spec.ServiceAccountName = "runner"
	})
	out := mustRender(t, b, Options{OperatorCondition: "mine", Config: json.RawMessage(`{"deploymentConfig": {"env": [{"name": "OPERATOR_CONDITION_NAME", "value": "other"}]}}`)})
	condition := find(t, out, "OperatorCondition", "operators", "mine")
	const want = "deployments:\n- op.manager\nserviceAccounts:\n- manager\n- runner\n"
	if diff := cmp.Diff(want, yamlOf(t, condition["spec"])); diff != "" {
		t.Error(diff)
	}
	if got := yamlOf(t, container(t, out)["env"]); got != "- name: OPERATOR_CONDITION_NAME\n  value: mine\n" {
		t.Errorf("env %s", got)
	}
	if env := container(t, mustRender(t, b, Options{}))["env"]; env != nil {
		t.Errorf("env %v", env)
	}
}

// container is the first of the test bundle's Deployment.
func container(t *testing.T, out *Rendered) map[string]any {
	t.Helper()
	return pod(t, out)["containers"].([]any)[0].(map[string]any)
}

// pod is the spec of the pods of the test bundle's Deployment.
func pod(t *testing.T, out *Rendered) map[string]any {
	t.Helper()
	return template(t, out)["spec"].(map[string]any)
}

func template(t *testing.T, out *Rendered) map[string]any {
	t.Helper()
	return find(t, out, "Deployment", "operators", "op.manager")["spec"].(map[string]any)["template"].(map[string]any)
}
