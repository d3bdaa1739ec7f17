package registryv1

import (
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

const (
	validating = v1alpha1.ValidatingAdmissionWebhook
	mutating   = v1alpha1.MutatingAdmissionWebhook
	conversion = v1alpha1.ConversionWebhook
)

// ruled is a webhook with a rule for a group and a resource.
func ruled(group, resource string) v1alpha1.WebhookDescription {
	w := hook(validating, "v.example.com")
	w.Rules = []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{APIGroups: []string{group}, Resources: []string{resource}}}}
	return w
}

func converting(crds ...string) v1alpha1.WebhookDescription {
	w := hook(conversion, "c.example.com")
	w.ConversionCRDs = crds
	return w
}

// with gives a bundle webhooks; conversions are for operators of all namespaces.
func with(hooks ...v1alpha1.WebhookDescription) func(*bundle.Bundle) {
	return func(b *bundle.Bundle) {
		for _, w := range hooks {
			if w.Type == conversion {
				supporting(v1alpha1.InstallModeTypeAllNamespaces)(b)
			}
		}
		b.CSV.Spec.WebhookDefinitions = hooks
	}
}

func TestValidate(t *testing.T) {
	deployments := func(b *bundle.Bundle) *[]v1alpha1.StrategyDeploymentSpec {
		return &b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs
	}
	tests := map[string]struct {
		edit func(b *bundle.Bundle)
		want []string // a part of each problem, in order
	}{
		"nothing wrong": {func(*bundle.Bundle) {}, nil},
		"1 two Deployments of a name": {func(b *bundle.Bundle) {
			*deployments(b) = append(*deployments(b), (*deployments(b))[0])
		}, []string{`ClusterServiceVersion op.v1.2.3: spec.install.spec.deployments[1].name: "op.manager" is the name of an earlier Deployment`}},
		"2 the name of a Deployment": {func(b *bundle.Bundle) {
			(*deployments(b))[0].Name = "Op_manager"
		}, []string{`deployments[0].name: "Op_manager" cannot be the name of a Deployment: a lowercase RFC 1123 subdomain`}},
		"3 two CRDs of a name": {func(b *bundle.Bundle) {
			b.Objects = append(b.Objects, b.Objects[0].DeepCopy())
		}, []string{`CustomResourceDefinition widgets.example.com: another manifest of the bundle has the same name`}},
		"4 an owned CRD that is not there": {func(b *bundle.Bundle) {
			b.Objects = nil
		}, []string{`spec.customresourcedefinitions.owned[0].name: the CRD "widgets.example.com" is not in the bundle`}},
		"5 no package": {func(b *bundle.Bundle) {
			b.Package = ""
		}, []string{`metadata/annotations.yaml: operators.operatorframework.io.bundle.package.v1: the bundle names no package`}},
		"5 a package that the catalog knows": {func(b *bundle.Bundle) { b.Package, b.Annotations = "", nil }, nil},
		"6 a conversion webhook of an operator of some namespaces": {func(b *bundle.Bundle) {
			b.CSV.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{converting("widgets.example.com")}
			supporting(v1alpha1.InstallModeTypeAllNamespaces, v1alpha1.InstallModeTypeOwnNamespace)(b)
		}, []string{`spec.webhookdefinitions[0].type: the conversion webhook c.example.com needs AllNamespaces as the only supported install mode, because CRDs are converted for the whole cluster; do not support OwnNamespace`}},
		"7 a webhook of an unknown Deployment": {func(b *bundle.Bundle) {
			w := hook(validating, "v.example.com")
			w.DeploymentName = "other"
			with(w)(b)
		}, []string{`spec.webhookdefinitions[0].deploymentName: "other" is not a Deployment of the install strategy`}},
		"8 two webhooks of a name": {with(hook(validating, "v.example.com"), hook(mutating, "v.example.com"), hook(validating, "v.example.com-")),
			[]string{`spec.webhookdefinitions[2].generateName: "v.example.com-" is that of an earlier ValidatingAdmissionWebhook`}},
		"9 the name of a webhook": {with(hook(mutating, "M_example.com"), hook(mutating, "m.example.com-")),
			[]string{`spec.webhookdefinitions[0].generateName: "M_example.com" cannot be the name of a webhook`}},
		"10 two conversion webhooks of a CRD": {with(converting("widgets.example.com"), func() v1alpha1.WebhookDescription {
			w := converting("widgets.example.com")
			w.GenerateName = "d.example.com"
			return w
		}()), []string{`spec.webhookdefinitions[1].conversionCRDs: the CRD "widgets.example.com" is converted by webhook c.example.com already`}},
		"11 a converted CRD that is not owned": {with(converting("gadgets.example.com")),
			[]string{`spec.webhookdefinitions[0].conversionCRDs: the CRD "gadgets.example.com" is not owned`}},
		"11 a conversion of nothing":      {with(converting()), []string{`has to name the CRDs that it converts`}},
		"12 a webhook on all groups":      {with(ruled("*", "pods")), []string{`spec.webhookdefinitions[0].rules: webhook v.example.com: rules[0] names the API group "*"`}},
		"12 a webhook on extensions":      {with(ruled("olm.operatorframework.io", "clusterextensions")), []string{`names the API group "olm.operatorframework.io"`}},
		"12 a webhook on all admission":   {with(ruled("admissionregistration.k8s.io", "*")), []string{`names the resource "*" of admissionregistration.k8s.io`}},
		"12 a webhook on a webhook":       {with(ruled("admissionregistration.k8s.io", "mutatingwebhookconfiguration")), []string{`names the resource "mutatingwebhookconfiguration"`}},
		"12 a webhook on webhooks":        {with(ruled("admissionregistration.k8s.io", "validatingwebhookconfigurations")), []string{`names the resource "validatingwebhookconfigurations"`}},
		"12 a webhook on other admission": {with(ruled("admissionregistration.k8s.io", "validatingadmissionpolicies")), nil},
		"13 a kind that bundles cannot have": {func(b *bundle.Bundle) {
			b.Objects = append(b.Objects, manifest(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: j}}"))
		}, []string{`Job j: this kind is not supported in bundles; supported are ClusterRole, `}},

		"a type of webhook that is not known": {with(hook("Other", "o.example.com")), []string{`spec.webhookdefinitions[0].type: "Other" is not known; use ValidatingAdmissionWebhook`}},
		"an API of an unknown Deployment": {func(b *bundle.Bundle) {
			b.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "gadgets", Group: "apis.example.com", Version: "v1", Kind: "Gadget", DeploymentName: "other"}}
		}, []string{`spec.apiservicedefinitions.owned[0].deploymentName: "other" is not a Deployment`}},
		"a Service without selector": {func(b *bundle.Bundle) {
			with(hook(validating, "v.example.com"))(b)
			(*deployments(b))[0].Spec.Selector = &metav1.LabelSelector{}
		}, []string{`deployments[0].spec.selector: Deployment op.manager serves webhooks or APIs, and its selector has no matchLabels`}},
		"a Service that cannot have its name": {func(b *bundle.Bundle) {
			(*deployments(b))[0].Name = strings.Repeat("a", 60)
			w := hook(validating, "v.example.com")
			w.DeploymentName = strings.Repeat("a", 60)
			with(w)(b)
		}, []string{`deployments[0].name: Deployment aaaa`}},
		"two manifests of an object": {func(b *bundle.Bundle) {
			one := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}}")
			two := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: y}}")
			b.Objects = append(b.Objects, one, two)
		}, []string{`ConfigMap c: another manifest of the bundle has the same kind and name`}},
		"a CRD of the manager": {func(b *bundle.Bundle) {
			b.Objects = append(b.Objects, manifest(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: clusterextensions.olm.operatorframework.io}}"))
		}, []string{`CustomResourceDefinition clusterextensions.olm.operatorframework.io: this API group is of operator lifecycle management itself`}},
		"an old CRD": {func(b *bundle.Bundle) {
			b.Objects[0].SetAPIVersion("apiextensions.k8s.io/v1beta1")
		}, []string{`CustomResourceDefinition widgets.example.com: apiVersion: no cluster since Kubernetes 1.22 serves apiextensions.k8s.io/v1beta1`}},
		"a CRD that cannot be converted": {func(b *bundle.Bundle) {
			b.Objects[0].Object["spec"].(map[string]any)["preserveUnknownFields"] = true
			with(converting("widgets.example.com"))(b)
		}, []string{`CustomResourceDefinition widgets.example.com: spec.preserveUnknownFields: is true`}},
		"no install mode":             {supporting(), []string{`spec.installModes: no install mode is supported`}},
		"an install mode twice":       {supporting("OwnNamespace", "OwnNamespace"), []string{`spec.installModes: InstallModes contain OwnNamespace more than once`}},
		"an unknown strategy":         {func(b *bundle.Bundle) { b.CSV.Spec.InstallStrategy.StrategyName = "helm" }, []string{`spec.install.strategy: "helm" is not known; the only strategy is "deployment"`}},
		"no strategy":                 {func(b *bundle.Bundle) { b.CSV.Spec.InstallStrategy.StrategyName = "" }, nil},
		"nothing to install but CRDs": {func(b *bundle.Bundle) { b.CSV.Spec.InstallStrategy = v1alpha1.NamedInstallStrategy{} }, nil},
		"properties that are no list": {func(b *bundle.Bundle) { b.CSV.Annotations["olm.properties"] = "{}" }, []string{`metadata.annotations[olm.properties]: json: cannot unmarshal object`}},
		"a property without value":    {func(b *bundle.Bundle) { b.CSV.Annotations["olm.properties"] = `[{"type": "a"}]` }, []string{`entry 0 has no type or no value`}},
		"all of several": {func(b *bundle.Bundle) {
			b.Package, b.Objects = "", nil
			(*deployments(b))[0].Name = "-"
		}, []string{`cannot be the name of a Deployment`, `is not in the bundle`, `names no package`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, test.edit)
			err := Validate(b)
			if len(test.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var invalid *InvalidError
			if !errors.As(err, &invalid) || invalid.Bundle != "op.v1.2.3" {
				t.Fatalf("error %v, want an InvalidError", err)
			}
			if len(invalid.Problems) != len(test.want) {
				t.Fatalf("problems %v, want %d", invalid.Problems, len(test.want))
			}
			for i, want := range test.want {
				must.Contain(t, "problem", invalid.Problems[i].Error(), want)
			}
			if _, rendered := Render(b, Options{Namespace: "operators"}); rendered == nil || rendered.Error() != err.Error() {
				t.Errorf("Render says %v", rendered)
			}
		})
	}
}

func TestInvalidErrorIsWhatItHolds(t *testing.T) {
	err := Validate(loadTest(t, with(ruled("*", "pods"))))
	if !errors.Is(err, bundle.ErrForbiddenRule) {
		t.Errorf("%v is not the forbidden rule that it tells of", err)
	}
	must.Equal(t, "result", (&InvalidError{Bundle: "b", Problems: []error{errors.New("x"), errors.New("y")}}).Error(), "invalid bundle b: x\ny")
}
