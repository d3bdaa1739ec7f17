package crds_test

import (
	"encoding/json"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

const csv = `
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v1}
spec:
  displayName: A
  install:
    strategy: deployment
    spec:
      deployments:
      - name: a
        spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}
`

func TestClusterServiceVersionRules(t *testing.T) {
	checkCreate(t, csv, map[string]ruleCase{
		"as it is":                {`{}`, "", ""},
		"no spec":                 {`{spec: null}`, "spec", "Required"},
		"no name for people":      {`{spec: {displayName: null}}`, "spec.displayName", "Required"},
		"no install":              {`{spec: {install: null}}`, "spec.install", "Required"},
		"unknown strategy":        {`{spec: {install: {strategy: helm, spec: null}}}`, "", ""},
		"tolerant version":        {`{spec: {version: v1.2}}`, "", ""},
		"empty version":           {`{spec: {version: ""}}`, "", ""},
		"version is a word":       {`{spec: {version: latest}}`, "spec.version", "version must be a semantic version"},
		"version with a release":  {`{spec: {version: 26.1.2-0}}`, "", ""},
		"version number too long": {`{spec: {version: 1.99999999999999999999.0}}`, "spec.version", "version must be a semantic version"},
		"release":                 {`{spec: {release: 1.el9}}`, "", ""},
		"release too long":        {`{spec: {release: aaaaaaaaaaaaaaaaaaaaa}}`, "spec.release", "20"},
		"empty part of release":   {`{spec: {release: a..b}}`, "spec.release", "joined by dots"},
		"zero in front":           {`{spec: {release: "1.01"}}`, "spec.release", "must not begin with 0"},
		"number too long":         {`{spec: {release: "99999999999999999999"}}`, "spec.release", "less than 20 digits"},
		"zero alone":              {`{spec: {release: "1.0"}}`, "", ""},
		"zero before a letter":    {`{spec: {release: "0a"}}`, "", ""},
		"webhook port 0":          {`{spec: {webhookdefinitions: [{generateName: a, type: ConversionWebhook, sideEffects: None, admissionReviewVersions: [v1], containerPort: 0}]}}`, "spec.webhookdefinitions[0].containerPort", "1"},
		"webhook port too high":   {`{spec: {webhookdefinitions: [{generateName: a, type: ConversionWebhook, sideEffects: None, admissionReviewVersions: [v1], containerPort: 65536}]}}`, "spec.webhookdefinitions[0].containerPort", "65535"},
		"webhook of no type":      {`{spec: {webhookdefinitions: [{generateName: a, type: Webhook, sideEffects: None, admissionReviewVersions: [v1]}]}}`, "spec.webhookdefinitions[0].type", "ConversionWebhook"},
		"unknown install mode":    {`{spec: {installModes: [{type: Anywhere, supported: true}]}}`, "", ""},
		"descriptor of any value": {`{spec: {customresourcedefinitions: {owned: [{name: a.b, version: v1, kind: A, statusDescriptors: [{path: a, value: {any: [1, thing]}}]}]}}}`, "", ""},
		"resource without name":   {`{spec: {customresourcedefinitions: {owned: [{name: a.b, version: v1, kind: A, resources: [{kind: Pod}]}]}}}`, "", ""},
		"label is no text":        {`{spec: {install: {spec: {deployments: [{name: a, label: {a: 1}, spec: {selector: {}, template: {}}}]}}}}`, "spec.install.spec.deployments[0].label.a", "string"},
		"label of pod is no text": {`{spec: {install: {spec: {deployments: [{name: a, spec: {selector: {}, template: {metadata: {labels: {a: 1}}}}}]}}}}`, "spec.install.spec.deployments[0].spec.template.metadata.labels.a", "string"},
		"port twice":              {`{spec: {install: {spec: {deployments: [{name: a, spec: {selector: {}, template: {spec: {containers: [{name: a, ports: [{containerPort: 1}, {containerPort: 1}], env: [{name: A}, {name: A}]}]}}}}]}}}}`, "", ""},
	})
}

func TestClusterServiceVersionIsStoredAsWritten(t *testing.T) {
	written := parse(t, csv)
	stored, unknown, errs := admit(t, written)
	if len(unknown)+len(errs) > 0 {
		t.Fatalf("not admitted whole: %v %v", unknown, errs)
	}
	written["status"] = map[string]any{"observedGeneration": int64(-1)} // no controller has observed it
	must.Equal(t, "the stored object differs", stored, written)
}

func TestOperatorGroupDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"no spec":    `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: a}}`,
		"empty spec": `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: a}, spec: {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			stored, _, errs := admit(t, parse(t, text))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			must.Equal(t, "upgradeStrategy defaults", at(stored, "spec", "upgradeStrategy"), "Default")
		})
	}
}

func TestOperatorGroupRules(t *testing.T) {
	checkCreate(t, `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: a}}`, map[string]ruleCase{
		"targets":          {`{spec: {targetNamespaces: [a, b]}}`, "", ""},
		"target twice":     {`{spec: {targetNamespaces: [a, a]}}`, "spec.targetNamespaces[1]", "Duplicate"},
		"fail forward":     {`{spec: {upgradeStrategy: TechPreviewUnsafeFailForward}}`, "", ""},
		"unknown strategy": {`{spec: {upgradeStrategy: Hope}}`, "spec.upgradeStrategy", "TechPreviewUnsafeFailForward"},
		"status":           {`{status: {lastUpdated: "2026-01-01T00:00:00Z", namespaces: [""]}}`, "", ""},
		"status by nobody": {`{status: {namespaces: [""]}}`, "status.lastUpdated", "Required"},
	})
}

func TestOperatorConditionOverrideNeedsNoTime(t *testing.T) {
	const override = `[{type: Upgradeable, status: "True", reason: Forced, message: mine}]`
	for _, version := range []string{"v1", "v2"} {
		checkCreate(t, `{apiVersion: operators.coreos.com/`+version+`, kind: OperatorCondition, metadata: {name: a}}`, map[string]ruleCase{
			version + " override":       {`{spec: {overrides: ` + override + `}}`, "", ""},
			version + " null as in Go":  {`{spec: {overrides: [{type: Upgradeable, status: "True", reason: Forced, message: mine, lastTransitionTime: null}]}}`, "", ""},
			version + " status":         {`{status: {conditions: ` + override + `}}`, "status.conditions[0].lastTransitionTime", "Required"},
			version + " as documented":  {`{spec: {conditions: [{type: Upgradeable, status: "False", reason: migration, message: The Operator is performing a migration., lastTransitionTime: "2020-08-24T23:15:55Z"}]}}`, "", ""},
			version + " without a time": {`{spec: {conditions: ` + override + `}}`, "spec.conditions[0].lastTransitionTime", "Required"},
			version + " without reason": {`{spec: {overrides: [{type: Upgradeable, status: "True", message: mine}]}}`, "spec.overrides[0].reason", "Required"},
		})
	}
}

const source = `{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: a}, spec: {sourceType: grpc}}`

func TestCatalogSourceRules(t *testing.T) {
	checkCreate(t, source, map[string]ruleCase{
		"as it is":              {`{}`, "", ""},
		"unknown type":          {`{spec: {sourceType: git}}`, "", ""},
		"no type":               {`{spec: {sourceType: null}}`, "spec.sourceType", "Required"},
		"memory target":         {`{spec: {grpcPodConfig: {memoryTarget: 30Mi}}}`, "", ""},
		"memory as number":      {`{spec: {grpcPodConfig: {memoryTarget: 1000}}}`, "", ""},
		"memory in words":       {`{spec: {grpcPodConfig: {memoryTarget: much}}}`, "spec.grpcPodConfig.memoryTarget", "should match"},
		"no priority class":     {`{spec: {grpcPodConfig: {priorityClassName: ""}}}`, "", ""},
		"unknown security":      {`{spec: {grpcPodConfig: {securityContextConfig: none}}}`, "spec.grpcPodConfig.securityContextConfig", "restricted"},
		"content without place": {`{spec: {grpcPodConfig: {extractContent: {cacheDir: /cache}}}}`, "spec.grpcPodConfig.extractContent.catalogDir", "Required"},
		"condition twice":       {`{status: {conditions: [{type: A, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}, {type: A, status: "True", reason: R, message: m, lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`, "status.conditions[1]", "Duplicate"},
	})
}

func TestCatalogSourceIntervalIsReadTolerantly(t *testing.T) {
	for name, tc := range map[string]struct {
		strategy string
		broken   bool
	}{
		"empty strategy": {`{}`, false},
		"empty poll":     {`{registryPoll: {}}`, false},
		"interval":       {`{registryPoll: {interval: 10m}}`, false},
		"bad interval":   {`{registryPoll: {interval: often}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			stored, unknown, errs := admit(t, overlay(parse(t, source), map[string]any{
				"spec": map[string]any{"sourceType": "grpc", "updateStrategy": parse(t, tc.strategy)},
			}))
			if len(unknown)+len(errs) > 0 {
				t.Fatalf("not admitted whole: %v %v", unknown, errs)
			}
			var typed v1alpha1.CatalogSource
			convert(t, stored, &typed)
			poll := typed.Spec.UpdateStrategy.RegistryPoll
			must.Equal(t, "the interval is broken", poll != nil && poll.ParsingError != "", tc.broken)
			var again map[string]any
			convert(t, typed, &again)
			must.Equal(t, "the strategy changed on its way through Go", at(again, "spec", "updateStrategy"), at(stored, "spec", "updateStrategy"))
		})
	}
}

func TestStatusOfGoClientIsAdmitted(t *testing.T) {
	plan := v1alpha1.InstallPlan{
		Spec:   v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"a.v1"}, Approval: v1alpha1.ApprovalManual},
		Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling},
	}
	plan.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.InstallPlanKind))
	plan.Name = "install-a"
	data := must.Value(json.Marshal(plan))(t)
	_, _, errs := admit(t, parse(t, string(data)))
	for _, err := range errs {
		t.Errorf("a plan without catalogs is refused: %v", err)
	}
}
