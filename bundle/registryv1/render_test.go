package registryv1

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
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
			must.Equal(t, "listing", listing(mustRender(t, loadTest(t, everything), test.o)), want)
		})
	}
}

// TestCRDsAlone: a bundle without spec.install brings its manifests; one that names no strategy brings its Deployments as well.
func TestCRDsAlone(t *testing.T) {
	alone := func(b *bundle.Bundle) { b.CSV.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{} }
	must.Equal(t, "without spec.install", listing(mustRender(t, loadTest(t, alone), Options{})), []string{"CustomResourceDefinition widgets.example.com"})
	unnamed := func(b *bundle.Bundle) { b.CSV.Spec.InstallStrategy.StrategyName = "" }
	must.Equal(t, "without a strategy", mustRender(t, loadTest(t, unnamed), Options{}), mustRender(t, loadTest(t, nil), Options{}))
}

func TestProperties(t *testing.T) {
	b := loadTest(t, func(b *bundle.Bundle) {
		b.CSV.Annotations["olm.properties"] = `[{"type": "olm.maxOpenShiftVersion", "value": "4.20"}]`
		b.Properties = []catalog.Property{{Type: "a", Value: json.RawMessage(`{"b":"<"}`)}}
	})
	const want = `[{"type":"olm.maxOpenShiftVersion","value":"4.20"},{"type":"a","value":{"b":"<"}}]`
	must.Equal(t, "properties", string(mustRender(t, b, Options{}).Properties), want)
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
	must.Equal(t, "spec", yamlOf(t, condition["spec"]), want)
	must.Equal(t, "env", yamlOf(t, container(t, out)["env"]), "- name: OPERATOR_CONDITION_NAME\n  value: mine\n")
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

func TestConfigLimits(t *testing.T) {
	b := loadTest(t, nil)
	large := json.RawMessage(`{"deploymentConfig": {"annotations": {"a": "` + strings.Repeat("x", maxConfigBytes) + `"}}}`)
	_, err := Render(b, Options{Namespace: "ns", Config: large})
	must.Fail(t, "Render", err, "make it smaller")
	long := json.RawMessage(`{"` + strings.Repeat("é", 5000) + `": 1, "watchNamespace": "` + strings.Repeat("x", 5000) + `"}`)
	if _, err := Render(b, Options{Namespace: "ns", Config: long}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("the message has %d bytes", len(err.Error()))
	}
	many := json.RawMessage(`{"deploymentConfig": {"env": [` + strings.Repeat(`{"name": "A"},`, maxConfigValues/2) + `{"name": "A"}]}}`)
	_, err = Render(b, Options{Namespace: "ns", Config: many})
	must.Fail(t, "Render", err, "more than 2000 values: make it smaller")
	deep := json.RawMessage(`{"deploymentConfig": ` + strings.Repeat(`{"affinity":`, 5000) + `1` + strings.Repeat(`}`, 5001))
	if _, err := Render(b, Options{Namespace: "ns", Config: deep}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("error %v", err)
	}
}

func TestRenderNeedsItsOptions(t *testing.T) {
	b := loadTest(t, nil)
	for _, o := range []Options{{}, {Namespace: "ns", Certificates: "Other"}} {
		_, err := Render(b, o)
		var bad *ConfigError
		var invalid *InvalidError
		if err == nil || errors.As(err, &bad) || errors.As(err, &invalid) {
			t.Errorf("%+v: error %v, want one of the caller", o, err)
		}
	}
}

// TestDocumentedConfigurations renders with every configuration that the documentation shows.
func TestDocumentedConfigurations(t *testing.T) {
	page := must.Value(os.ReadFile("../../docs/bundle-configuration.md"))(t)
	shown := 0
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		var content struct {
			Inline any
			Spec   struct{ Config struct{ Inline any } }
		}
		if err := kyaml.Unmarshal([]byte(block), &content); err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
		config := content.Inline
		if config == nil {
			config = content.Spec.Config.Inline
		}
		if config == nil {
			continue
		}
		shown++
		if _, err := Render(loadTest(t, nil), Options{Namespace: "operators", Config: []byte(asJSON(t, config))}); err != nil {
			t.Errorf("%v for\n%s", err, block)
		}
	}
	must.Equal(t, "configurations are shown", shown, 3)
}
