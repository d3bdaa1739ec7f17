package bundle

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func TestValidateClean(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"as it is": nil,
		"with all that is optional": {
			"metadata/d.yaml": "dependencies:\n- {type: olm.package, value: {packageName: p, version: '>=1.0.0'}}\n" +
				"- {type: olm.gvk, value: {group: g, version: v1, kind: K}}\n- {type: olm.label, value: {label: l}}\n",
			"manifests/x.yaml": configMap("x"),
			"manifests/r.yaml": "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'system:thing'}\n",
		},
	} {
		must.Empty(t, name, Validate(loadTest(t, files)))
	}
}

// TestValidateRules breaks one thing of a bundle at a time and expects exactly the finding for it.
func TestValidateRules(t *testing.T) {
	permissions := func(account string, rule rbacv1.PolicyRule, cluster bool) func(*Bundle) {
		return func(b *Bundle) {
			list := []v1alpha1.StrategyDeploymentPermissions{permit(account, []rbacv1.PolicyRule{rule})}
			if cluster {
				b.CSV.Spec.InstallStrategy.StrategySpec.ClusterPermissions = list
			} else {
				b.CSV.Spec.InstallStrategy.StrategySpec.Permissions = list
			}
		}
	}
	hook := func(change func(*v1alpha1.WebhookDescription)) func(*Bundle) {
		return func(b *Bundle) {
			description := webhook(v1alpha1.ValidatingAdmissionWebhook, "v.kb.io")
			change(&description)
			b.CSV.Spec.WebhookDefinitions = append(b.CSV.Spec.WebhookDefinitions, description)
		}
	}
	deployment := func(change func(*v1alpha1.StrategyDeploymentSpec)) func(*Bundle) {
		return func(b *Bundle) { change(&b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0]) }
	}
	tests := map[string]struct {
		files  map[string]string
		change func(*Bundle)
		want   string
	}{
		"no package":          {change: func(b *Bundle) { b.Package = "" }, want: "Error: bundle op.v1.0.0: annotations: operators.operatorframework.io.bundle.package.v1 is missing"},
		"no channels":         {change: func(b *Bundle) { b.Channels = nil }, want: "Warning: bundle op.v1.0.0: annotations: operators.operatorframework.io.bundle.channels.v1 is missing"},
		"dependency: no name": {change: func(b *Bundle) { b.Dependencies = []Dependency{{"olm.package", []byte(`{"version":"1.0.0"}`)}} }, want: "Error: bundle op.v1.0.0: dependencies: olm.package"},
		"dependency: range": {change: func(b *Bundle) {
			b.Dependencies = []Dependency{{"olm.package", []byte(`{"packageName":"p","version":"x"}`)}}
		}, want: "Error: bundle op.v1.0.0: dependencies: package p"},
		"dependency: form":       {change: func(b *Bundle) { b.Dependencies = []Dependency{{"olm.gvk", []byte(`"x"`)}} }, want: "Error: bundle op.v1.0.0: dependencies: olm.gvk"},
		"dependency: kind":       {change: func(b *Bundle) { b.Dependencies = []Dependency{{"olm.gvk", []byte(`{"group":"g","version":"v1"}`)}} }, want: "Error: bundle op.v1.0.0: dependencies: olm.gvk"},
		"properties annotation":  {change: func(b *Bundle) { b.CSV.Annotations = map[string]string{"olm.properties": "{"} }, want: "Warning: ClusterServiceVersion op.v1.0.0: metadata.annotations[olm.properties]: read annotation"},
		"name with capitals":     {change: func(b *Bundle) { b.CSV.Name = "Op.v1" }, want: "Error: ClusterServiceVersion op.v1.0.0: metadata.name"},
		"name too long":          {change: func(b *Bundle) { b.CSV.Name = strings.Repeat("a", 64) }, want: "Error: ClusterServiceVersion op.v1.0.0: metadata.name: must be no more than 63"},
		"replaces with capitals": {change: func(b *Bundle) { b.CSV.Spec.Replaces = "Op.v0" }, want: "Error: ClusterServiceVersion op.v1.0.0: spec.replaces"},
		"minKubeVersion":         {change: func(b *Bundle) { b.CSV.Spec.MinKubeVersion = "v1.x" }, want: "Error: ClusterServiceVersion op.v1.0.0: spec.minKubeVersion"},
		"skipRange":              {change: func(b *Bundle) { b.CSV.Annotations = map[string]string{"olm.skipRange": ">>1"} }, want: "Warning: ClusterServiceVersion op.v1.0.0: metadata.annotations[olm.skipRange]"},
		"install mode twice":     {change: func(b *Bundle) { b.CSV.Spec.InstallModes = append(b.CSV.Spec.InstallModes, b.CSV.Spec.InstallModes...) }, want: "Error: ClusterServiceVersion op.v1.0.0: spec.installModes"},
		"no install mode":        {change: func(b *Bundle) { b.CSV.Spec.InstallModes[0].Supported = false }, want: "Error: ClusterServiceVersion op.v1.0.0: spec.installModes: no install mode is supported"},

		"strategy":             {change: func(b *Bundle) { b.CSV.Spec.InstallStrategy.StrategyName = "helm" }, want: `spec.install.strategy: "helm" is not known`},
		"no Deployment":        {change: func(b *Bundle) { b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = nil }, want: "Warning: ClusterServiceVersion op.v1.0.0: spec.install.spec.deployments: there is no Deployment"},
		"Deployment name":      {change: deployment(func(d *v1alpha1.StrategyDeploymentSpec) { d.Name = "a_b" }), want: "deployments[0].name"},
		"Deployment selector":  {change: deployment(func(d *v1alpha1.StrategyDeploymentSpec) { d.Spec.Selector = nil }), want: "deployments[0].spec.selector: is missing"},
		"Deployment container": {change: deployment(func(d *v1alpha1.StrategyDeploymentSpec) { d.Spec.Template.Spec.Containers = nil }), want: "containers: is empty"},
		"Deployment twice": {change: func(b *Bundle) {
			spec := &b.CSV.Spec.InstallStrategy.StrategySpec
			spec.DeploymentSpecs = append(spec.DeploymentSpecs, spec.DeploymentSpecs[0])
		}, want: "deployments[1].name: op is the name of an earlier Deployment"},

		"no account":               {change: permissions("", podRules[0], false), want: "Warning: ClusterServiceVersion op.v1.0.0: spec.install.spec.permissions[0].serviceAccountName"},
		"account name":             {change: permissions("A", podRules[0], true), want: "Error: ClusterServiceVersion op.v1.0.0: spec.install.spec.clusterPermissions[0].serviceAccountName"},
		"rule: no verbs":           {change: permissions("a", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}}, false), want: "permissions[0].rules[0]: verbs are missing"},
		"rule: no groups":          {change: permissions("a", rbacv1.PolicyRule{Verbs: []string{"get"}, Resources: []string{"pods"}}, false), want: "permissions[0].rules[0]: apiGroups are missing"},
		"rule: no resources":       {change: permissions("a", rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}}, true), want: "clusterPermissions[0].rules[0]: resources are missing"},
		"rule: URLs in namespace":  {change: permissions("a", healthRules[0], false), want: "permissions[0].rules[0]: nonResourceURLs are possible in clusterPermissions only"},
		"rule: URLs and resources": {change: permissions("a", rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}, Resources: []string{"pods"}}, true), want: "rules[0]: a rule is either for resources or"},
		"API: Deployment": {change: func(b *Bundle) {
			b.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{DeploymentName: "x", Group: "example.com"}}
		}, want: `apiservicedefinitions.owned[0].deploymentName: "x" is not a Deployment`},
		"API: of Kubernetes": {change: func(b *Bundle) {
			b.CSV.Spec.APIServiceDefinitions.Owned = []v1alpha1.APIServiceDescription{{Name: "clusterroles", Group: "rbac.authorization.k8s.io", Version: "v9",
				DeploymentName: b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Name}}
		}, want: `apiservicedefinitions.owned[0].group: this API group is served by the API server of Kubernetes itself`},
		"CRD: owned, of lifecycle management": {change: func(b *Bundle) {
			owned := &b.CSV.Spec.CustomResourceDefinitions.Owned
			*owned = append(*owned, v1alpha1.CRDDescription{Name: "operatorgroups.operators.coreos.com", Version: "v1", Kind: "OperatorGroup"})
		}, want: `customresourcedefinitions.owned[1].name: this API group is of operator lifecycle management itself`},
		"webhook: Deployment": {change: hook(func(d *v1alpha1.WebhookDescription) { d.DeploymentName = "x" }), want: `webhookdefinitions[0].deploymentName: "x" is not a Deployment`},
		"webhook: rules":      {change: hook(func(d *v1alpha1.WebhookDescription) { d.Rules[0].APIGroups = []string{"*"} }), want: "webhookdefinitions[0].rules"},
		"webhook: name":       {change: hook(func(d *v1alpha1.WebhookDescription) { d.GenerateName = "V" }), want: "webhookdefinitions[0].generateName"},
		"webhook: type":       {change: hook(func(d *v1alpha1.WebhookDescription) { d.Type = "x" }), want: `webhookdefinitions[0].type: "x" is not known`},
		"webhook: conversion": {change: hook(func(d *v1alpha1.WebhookDescription) { d.Type = v1alpha1.ConversionWebhook }), want: "spec.webhookdefinitions: webhook v.kb.io: a conversion webhook needs conversionCRDs"},
		"webhook: name twice": {change: func(b *Bundle) {
			d := webhook(v1alpha1.MutatingAdmissionWebhook, "m")
			b.CSV.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{d, d}
		}, want: "Warning: ClusterServiceVersion op.v1.0.0: spec.webhookdefinitions[1].generateName"},
		"webhook: selector": {change: func(b *Bundle) {
			hook(func(*v1alpha1.WebhookDescription) {})(b)
			deployment(func(d *v1alpha1.StrategyDeploymentSpec) { d.Spec.Selector.MatchLabels = nil })(b)
		}, want: "deploymentName: the selector of Deployment op has no matchLabels"},
		"webhook: name of Service": {change: func(b *Bundle) {
			name := strings.Repeat("a", 60)
			hook(func(d *v1alpha1.WebhookDescription) { d.DeploymentName = name })(b)
			deployment(func(d *v1alpha1.StrategyDeploymentSpec) { d.Name = name })(b)
		}, want: "cannot be named"},
		"owned CRD: no dot": {change: func(b *Bundle) {
			owned := &b.CSV.Spec.CustomResourceDefinitions.Owned
			*owned = append(*owned, v1alpha1.CRDDescription{Name: "things"})
		}, want: "customresourcedefinitions.owned[1].name"},
		"owned CRD: missing": {change: func(b *Bundle) {
			owned := &b.CSV.Spec.CustomResourceDefinitions.Owned
			*owned = append(*owned, v1alpha1.CRDDescription{Name: "others.example.com"})
		}, want: "owned[1]: the CRD others.example.com is not in the bundle"},
		"owned CRD: version": {change: func(b *Bundle) { b.CSV.Spec.CustomResourceDefinitions.Owned[0].Version = "v2" }, want: "owned[0]: the CRD things.example.com in the bundle does not define Thing.v2.example.com"},
		"owned CRD: kind":    {change: func(b *Bundle) { b.CSV.Spec.CustomResourceDefinitions.Owned[0].Kind = "Other" }, want: "owned[0]: the CRD things.example.com in the bundle does not define Other.v1.example.com"},
		"required CRD: no dot": {change: func(b *Bundle) {
			b.CSV.Spec.CustomResourceDefinitions.Required = []v1alpha1.CRDDescription{{Name: "things"}}
		}, want: "customresourcedefinitions.required[0].name"},
		"CRD: not owned": {change: func(b *Bundle) { b.CSV.Spec.CustomResourceDefinitions.Owned = nil }, want: "Warning: CustomResourceDefinition things.example.com: the ClusterServiceVersion does not own it"},
		"CRD: name":      {files: map[string]string{"manifests/things.crd.yaml": strings.Replace(testCRDYAML, "plural: things", "plural: thing", 1)}, want: `Error: CustomResourceDefinition things.example.com: metadata.name: has to be <plural>.<group>, which is "thing.example.com"`},
		"CRD: of lifecycle management": {files: map[string]string{"manifests/x.yaml": strings.ReplaceAll(strings.ReplaceAll(testCRDYAML, "things", "subscriptions"), "example.com", "operators.coreos.com")},
			change: func(b *Bundle) {
				owned := &b.CSV.Spec.CustomResourceDefinitions.Owned
				*owned = append(*owned, v1alpha1.CRDDescription{Name: "subscriptions.operators.coreos.com", Version: "v1", Kind: "Thing"})
			}, want: "Error: CustomResourceDefinition subscriptions.operators.coreos.com: spec.group: this API group is of operator lifecycle management itself"},
		"CRD: old version":           {files: map[string]string{"manifests/things.crd.yaml": strings.Replace(testCRDYAML, "io/v1\n", "io/v1beta1\n", 1)}, want: "Warning: CustomResourceDefinition things.example.com: apiVersion"},
		"two manifests of an object": {files: map[string]string{"manifests/x.yaml": configMap("x"), "manifests/y.yaml": configMap("x")}, want: "Error: ConfigMap x: another manifest"},
		"object name":                {files: map[string]string{"manifests/x.yaml": configMap("'a b'")}, want: "Error: ConfigMap a b: metadata.name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, tc.files)
			if tc.change != nil {
				tc.change(b)
			}
			findings := Validate(b)
			if len(findings) != 1 || !strings.Contains(findings[0].String(), tc.want) {
				t.Errorf("findings %v, want only one with %q", findings, tc.want)
			}
		})
	}
}

// TestValidateInline shows that inline manifests are not asked for metadata.
func TestValidateInline(t *testing.T) {
	b := loadTest(t, nil)
	b.Annotations, b.Package, b.Channels = nil, "", nil
	must.Empty(t, "findings", Validate(b))
}

func TestFindings(t *testing.T) {
	findings := Findings{
		{"Error", "r", "A a", "f", "one"},
		{"Warning", "r", "B b", "", "two"},
		{"Error", "r", "C c", "", "three"},
	}
	must.Equal(t, "error", findings.Err().Error(), "Error: A a: f: one\nError: C c: three")
	if len(findings.Errors()) != 2 || len(findings.Warnings()) != 1 {
		t.Errorf("%d errors, %d warnings", len(findings.Errors()), len(findings.Warnings()))
	}
	if err := findings.Warnings().Err(); err != nil {
		t.Errorf("warnings make an error: %v", err)
	}
}
