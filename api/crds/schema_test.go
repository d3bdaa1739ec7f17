package crds_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"fairlead.dev/fairlead/test/must"
)

// schemaAt follows a path such as spec.installModes[] from the schema of one version of a kind.
func schemaAt(t *testing.T, crd, version, path string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	versions := definitions(t)[crd].Spec.Versions
	i := slices.IndexFunc(versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	if i < 0 {
		t.Fatalf("%s has no version %s", crd, version)
	}
	node := *versions[i].Schema.OpenAPIV3Schema
	for step := range strings.SplitSeq(path, ".") {
		field, list := strings.CutSuffix(step, "[]")
		inner, ok := node.Properties[field]
		if !ok {
			t.Fatalf("%s %s has no field %s of %s", crd, version, field, path)
		}
		node = inner
		if list {
			node = *node.Items.Schema
		}
	}
	return node
}

const (
	csvCRD  = "clusterserviceversions.operators.coreos.com"
	subCRD  = "subscriptions.operators.coreos.com"
	ipCRD   = "installplans.operators.coreos.com"
	cscCRD  = "catalogsources.operators.coreos.com"
	ogCRD   = "operatorgroups.operators.coreos.com"
	condCRD = "operatorconditions.operators.coreos.com"
	cfgCRD  = "olmconfigs.operators.coreos.com"
	opCRD   = "operators.operators.coreos.com"
	extCRD  = "clusterextensions.olm.operatorframework.io"
	catCRD  = "clustercatalogs.olm.operatorframework.io"
	setCRD  = "clusterobjectsets.olm.operatorframework.io"
)

// requiredFields are the required fields of every object that the kinds define themselves.
var requiredFields = map[string]map[string]string{
	csvCRD + " v1alpha1": {
		"spec":                                                     "displayName install",
		"spec.install":                                             "strategy",
		"spec.install.spec":                                        "deployments",
		"spec.install.spec.deployments[]":                          "name spec",
		"spec.install.spec.permissions[]":                          "rules serviceAccountName",
		"spec.install.spec.clusterPermissions[]":                   "rules serviceAccountName",
		"spec.customresourcedefinitions":                           "",
		"spec.customresourcedefinitions.owned[]":                   "kind name version",
		"spec.customresourcedefinitions.required[]":                "kind name version",
		"spec.customresourcedefinitions.owned[].specDescriptors[]": "path",
		"spec.apiservicedefinitions.owned[]":                       "group kind name version",
		"spec.apiservicedefinitions.required[]":                    "group kind name version",
		"spec.webhookdefinitions[]":                                "admissionReviewVersions generateName sideEffects type",
		"spec.nativeAPIs[]":                                        "group kind version",
		"spec.icon[]":                                              "base64data mediatype",
		"spec.installModes[]":                                      "supported type",
		"spec.cleanup":                                             "enabled",
		"spec.maintainers[]":                                       "",
		"spec.links[]":                                             "",
		"status":                                                   "",
		"status.conditions[]":                                      "",
		"status.requirementStatus[]":                               "group kind message name status version",
		"status.requirementStatus[].dependents[]":                  "group kind status version",
	},
	subCRD + " v1alpha1": {
		"spec":                   "name source sourceNamespace",
		"spec.config":            "",
		"status":                 "lastUpdated",
		"status.catalogHealth[]": "catalogSourceRef healthy lastUpdated",
		"status.conditions[]":    "status type",
		"status.installplan":     "",
	},
	ipCRD + " v1alpha1": {
		"spec":                                "approval approved clusterServiceVersionNames",
		"status":                              "catalogSources phase",
		"status.plan[]":                       "resolving resource status",
		"status.plan[].resource":              "group kind name sourceName sourceNamespace version",
		"status.bundleLookups[]":              "catalogSourceRef identifier path replaces",
		"status.bundleLookups[].conditions[]": "status type",
		"status.conditions[]":                 "",
	},
	cscCRD + " v1alpha1": {
		"spec":                              "sourceType",
		"spec.icon":                         "base64data mediatype",
		"spec.updateStrategy":               "",
		"spec.updateStrategy.registryPoll":  "",
		"spec.grpcPodConfig":                "",
		"spec.grpcPodConfig.extractContent": "catalogDir",
		"status":                            "",
		"status.connectionState":            "lastObservedState",
		"status.registryService":            "",
	},
	ogCRD + " v1":       {"spec": "", "status": "lastUpdated", "status.conditions[]": "lastTransitionTime message reason status type"},
	ogCRD + " v1alpha2": {"spec": "", "status": "lastUpdated"},
	condCRD + " v2": {
		"spec": "", "spec.overrides[]": "message reason status type",
		"spec.conditions[]":   "lastTransitionTime message reason status type",
		"status.conditions[]": "lastTransitionTime message reason status type",
	},
	condCRD + " v1": {
		"spec": "", "spec.overrides[]": "message reason status type",
		"spec.conditions[]":   "lastTransitionTime message reason status type",
		"status.conditions[]": "lastTransitionTime message reason status type",
	},
	extCRD + " v1": {
		"spec":                   "namespace source",
		"spec.serviceAccount":    "",
		"spec.source":            "sourceType",
		"spec.source.catalog":    "packageName",
		"spec.install":           "",
		"spec.install.preflight": "crdUpgradeSafety",
		"spec.install.preflight.crdUpgradeSafety": "enforcement",
		"spec.config":              "configType",
		"status":                   "",
		"status.install":           "bundle",
		"status.install.bundle":    "name version",
		"status.activeRevisions[]": "name",
	},
	catCRD + " v1": {
		"spec": "source", "spec.source": "type", "spec.source.image": "ref",
		"status": "", "status.resolvedSource": "image type", "status.resolvedSource.image": "ref", "status.urls": "base",
	},
	setCRD + " v1": {
		"spec":                                                 "collisionProtection lifecycleState revision",
		"spec.phases[]":                                        "name objects",
		"spec.phases[].objects[]":                              "",
		"spec.phases[].objects[].ref":                          "key name",
		"spec.progressionProbes[]":                             "assertions selector",
		"spec.progressionProbes[].selector":                    "type",
		"spec.progressionProbes[].selector.groupKind":          "group kind",
		"spec.progressionProbes[].assertions[]":                "type",
		"spec.progressionProbes[].assertions[].conditionEqual": "status type",
		"spec.progressionProbes[].assertions[].fieldsEqual":    "fieldA fieldB",
		"spec.progressionProbes[].assertions[].fieldValue":     "fieldPath value",
		"status":                  "",
		"status.observedPhases[]": "digest name",
	},
	cfgCRD + " v1": {"spec": "", "spec.features": "", "status": ""},
	opCRD + " v1": {
		"spec": "", "status": "", "status.components": "labelSelector",
		"status.components.refs[]": "", "status.components.refs[].conditions[]": "status type",
	},
}

// TestPublishedBounds: clients and forms that are made of schemas read the bounds of integers, and not what their format implies.
func TestPublishedBounds(t *testing.T) {
	for _, c := range []struct {
		crd, path string
		min, max  float64 // NaN is none
	}{
		{catCRD, "spec.priority", math.MinInt32, math.MaxInt32},
		{catCRD, "spec.source.image.pollIntervalMinutes", 1, math.NaN()},
		{extCRD, "spec.progressDeadlineMinutes", 10, 720},
		{setCRD, "spec.progressDeadlineMinutes", 10, 720},
		{setCRD, "spec.revision", 1, math.NaN()},
	} {
		node := schemaAt(t, c.crd, "v1", c.path)
		for bound, pair := range map[string]struct {
			got  *float64
			want float64
		}{"minimum": {node.Minimum, c.min}, "maximum": {node.Maximum, c.max}} {
			if none := math.IsNaN(pair.want); none != (pair.got == nil) || !none && *pair.got != pair.want {
				t.Errorf("%s %s: %s is %v, want %v", c.crd, c.path, bound, pair.got, pair.want)
			}
		}
	}
}

func TestRequiredFields(t *testing.T) {
	for id, fields := range requiredFields {
		crd, version, _ := strings.Cut(id, " ")
		for path, want := range fields {
			node := schemaAt(t, crd, version, path)
			slices.Sort(node.Required)
			must.Equal(t, fmt.Sprintf("%s %s: required fields", id, path), strings.Join(node.Required, " "), want)
		}
	}
}

func TestEnumsAndDefaults(t *testing.T) {
	for name, tc := range map[string]struct{ crd, version, path, enum, byDefault string }{
		"webhook type":          {csvCRD, "v1alpha1", "spec.webhookdefinitions[].type", `"ValidatingAdmissionWebhook" "MutatingAdmissionWebhook" "ConversionWebhook"`, ""},
		"webhook port":          {csvCRD, "v1alpha1", "spec.webhookdefinitions[].containerPort", "", "443"},
		"install mode":          {csvCRD, "v1alpha1", "spec.installModes[].type", "", ""},
		"source type":           {cscCRD, "v1alpha1", "spec.sourceType", "", ""},
		"security":              {cscCRD, "v1alpha1", "spec.grpcPodConfig.securityContextConfig", `"legacy" "restricted"`, ""},
		"subscription approval": {subCRD, "v1alpha1", "spec.installPlanApproval", "", ""},
		"plan approval":         {ipCRD, "v1alpha1", "spec.approval", "", ""},
		"group":                 {ogCRD, "v1", "spec", "", `{"upgradeStrategy":"Default"}`},
		"upgrade strategy":      {ogCRD, "v1", "spec.upgradeStrategy", `"Default" "TechPreviewUnsafeFailForward"`, `"Default"`},
	} {
		t.Run(name, func(t *testing.T) {
			node := schemaAt(t, tc.crd, tc.version, tc.path)
			var enum []string
			for _, value := range node.Enum {
				enum = append(enum, string(value.Raw))
			}
			must.Equal(t, "enum", strings.Join(enum, " "), tc.enum)
			byDefault := ""
			if node.Default != nil {
				byDefault = string(node.Default.Raw)
			}
			must.Equal(t, "default", byDefault, tc.byDefault)
		})
	}
}

func TestListTypes(t *testing.T) {
	for name, tc := range map[string]struct{ crd, version, path, listType, keys string }{
		"target namespaces":   {ogCRD, "v1", "spec.targetNamespaces", "set", ""},
		"old targets":         {ogCRD, "v1alpha2", "spec.targetNamespaces", "set", ""},
		"group namespaces":    {ogCRD, "v1", "status.namespaces", "set", ""},
		"catalog conditions":  {cscCRD, "v1alpha1", "status.conditions", "map", "type"},
		"container ports":     {csvCRD, "v1alpha1", "spec.install.spec.deployments[].spec.template.spec.containers[].ports", "", ""},
		"subscription's envs": {subCRD, "v1alpha1", "spec.config.env", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			node := schemaAt(t, tc.crd, tc.version, tc.path)
			listType := ""
			if node.XListType != nil {
				listType = *node.XListType
			}
			if keys := strings.Join(node.XListMapKeys, " "); listType != tc.listType || keys != tc.keys {
				t.Errorf("list type is %q with keys %q, want %q with %q", listType, keys, tc.listType, tc.keys)
			}
		})
	}
}

// TestOldOperatorGroup checks that the version before v1 has neither of the fields that v1 brought.
func TestOldOperatorGroup(t *testing.T) {
	for path, fields := range map[string][]string{
		"spec":   {"selector", "serviceAccountName", "staticProvidedAPIs", "targetNamespaces"},
		"status": {"lastUpdated", "namespaces", "serviceAccountRef"},
	} {
		got := slices.Sorted(maps.Keys(schemaAt(t, ogCRD, "v1alpha2", path).Properties))
		must.Equal(t, fmt.Sprintf("fields of %s differ", path), got, fields)
	}
}
