package crds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/test/must"
)

// maxAnnotations is how many bytes all annotations of an object may have together. kubectl apply keeps the whole
// object in one of them.
const maxAnnotations = 262144

var readOnce = sync.OnceValues(crds.All)

// definitions are those of All, read once; tests only look at them.
func definitions(t testing.TB) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return byName(t, readOnce)
}

// fresh are those of All, for tests that change them.
func fresh(t testing.TB) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return byName(t, crds.All)
}

func byName(t testing.TB, read func() ([]*apiextensionsv1.CustomResourceDefinition, error)) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	list, err := read()
	must.NoErrorf(t, err, "All() failed")
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range list {
		out[crd.Name] = crd
	}
	return out
}

func TestAllReturnsFreshCopies(t *testing.T) {
	const name = "subscriptions.operators.coreos.com"
	fresh(t)[name].Spec.Names.Kind = "Changed"
	must.Equal(t, "a change of a returned CustomResourceDefinition came back: kind", fresh(t)[name].Spec.Names.Kind, "Subscription")
}

func TestSize(t *testing.T) {
	names, err := filepath.Glob("*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("found no generated files: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data := must.Value(os.ReadFile(name))(t)
			if len(data) >= maxAnnotations {
				t.Errorf("has %d bytes as YAML, want less than %d", len(data), maxAnnotations)
			}
			applied := must.Value(yaml.YAMLToJSON(data))(t)
			if len(applied) >= maxAnnotations {
				t.Errorf("has %d bytes as JSON, want less than %d", len(applied), maxAnnotations)
			}
		})
	}
}

func TestAPIServerAcceptsDefinitions(t *testing.T) {
	for name, crd := range fresh(t) {
		t.Run(name, func(t *testing.T) {
			apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
			apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
			crd.Status.StoredVersions = []string{storageVersion(crd)}
			internal := &apiextensions.CustomResourceDefinition{}
			must.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, internal, nil))
			for _, err := range crdvalidation.ValidateCustomResourceDefinition(context.Background(), internal) {
				t.Error(err)
			}
		})
	}
}

func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) string {
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			return version.Name
		}
	}
	return ""
}

// shape is what clients see of a kind beside its schema.
type shape struct {
	Kind, ListKind, Plural, Singular string
	ShortNames, Categories           []string
	Scope                            apiextensionsv1.ResourceScope
	Versions                         []version
	Columns                          []column
}

type version struct {
	Name     string
	Storage  bool
	Required []string
}

type column struct{ Name, Type, Path string }

// TestLastColumnOfClusterServiceVersion: scripts read the phase from the last column of a plain list; what follows it is shown with -o wide only.
func TestLastColumnOfClusterServiceVersion(t *testing.T) {
	columns := definitions(t)[csvCRD].Spec.Versions[0].AdditionalPrinterColumns
	last := ""
	for _, c := range columns {
		if c.Priority == 0 {
			last = c.Name
		}
	}
	must.Equal(t, "last column", last, "Phase")
}

// TestStatusBeforeTheFirstOne: an object that no controller has seen says so, or kstatus takes it for current at once.
func TestStatusBeforeTheFirstOne(t *testing.T) {
	for crd, version := range map[string]string{csvCRD: "v1alpha1", subCRD: "v1alpha1", ipCRD: "v1alpha1", cscCRD: "v1alpha1", ogCRD: "v1", extCRD: "v1", catCRD: "v1", setCRD: "v1"} {
		status := schemaAt(t, crd, version, "status")
		var got struct {
			ObservedGeneration int64 `json:"observedGeneration"`
		}
		if status.Default == nil {
			t.Errorf("%s has no default for its status", crd)
			continue
		}
		must.NoError(t, json.Unmarshal(status.Default.Raw, &got))
		must.Equal(t, crd, got.ObservedGeneration, int64(-1))
	}
}

func classic(kind, plural, singular string, shortNames []string, versions []version, columns ...column) shape {
	return shape{
		Kind: kind, ListKind: kind + "List", Plural: plural, Singular: singular,
		ShortNames: shortNames, Categories: []string{"olm"}, Scope: apiextensionsv1.NamespaceScoped,
		Versions: versions, Columns: columns,
	}
}

func clusterScoped(s shape, categories ...string) shape {
	s.Scope, s.Categories = apiextensionsv1.ClusterScoped, categories
	return s
}

func shapes() map[string]shape {
	both := []string{"metadata", "spec"}
	age := column{"Age", "date", ".metadata.creationTimestamp"}
	// What was published comes first, in its order; what shows health follows.
	ready := column{"Ready", "string", ".status.conditions[?(@.type=='Ready')].status"}
	reason := column{"Reason", "string", ".status.conditions[?(@.type=='Ready')].reason"}
	upgradeable := column{"Upgradeable", "string", ".status.conditions[?(@.type=='Upgradeable')].status"}
	whyNot := column{"Reason", "string", ".status.conditions[?(@.type=='Upgradeable')].reason"}
	progressing := column{"Progressing", "string", ".status.conditions[?(@.type=='Progressing')].status"}
	return map[string]shape{
		"clusterserviceversions.operators.coreos.com": classic("ClusterServiceVersion", "clusterserviceversions", "clusterserviceversion",
			[]string{"csv", "csvs"}, []version{{"v1alpha1", true, both}},
			column{"Display", "string", ".spec.displayName"}, column{"Version", "string", ".spec.version"},
			column{"Release", "string", ".spec.release"}, column{"Replaces", "string", ".spec.replaces"},
			column{"Phase", "string", ".status.phase"}, ready, column{"Reason", "string", ".status.reason"}),
		"subscriptions.operators.coreos.com": classic("Subscription", "subscriptions", "subscription",
			[]string{"sub", "subs"}, []version{{"v1alpha1", true, both}},
			column{"Package", "string", ".spec.name"}, column{"Source", "string", ".spec.source"},
			column{"Channel", "string", ".spec.channel"}, column{"Installed", "string", ".status.installedCSV"}, ready, reason),
		"installplans.operators.coreos.com": classic("InstallPlan", "installplans", "installplan",
			[]string{"ip"}, []version{{"v1alpha1", true, both}},
			column{"CSV", "string", ".spec.clusterServiceVersionNames[0]"}, column{"Approval", "string", ".spec.approval"},
			column{"Approved", "boolean", ".spec.approved"}, column{"Phase", "string", ".status.phase"}, reason),
		"catalogsources.operators.coreos.com": classic("CatalogSource", "catalogsources", "catalogsource",
			[]string{"catsrc"}, []version{{"v1alpha1", true, both}},
			column{"Display", "string", ".spec.displayName"}, column{"Type", "string", ".spec.sourceType"},
			column{"Publisher", "string", ".spec.publisher"}, age, ready, reason),
		"operatorgroups.operators.coreos.com": classic("OperatorGroup", "operatorgroups", "operatorgroup",
			[]string{"og"}, []version{{"v1", true, both[:1]}, {"v1alpha2", false, both[:1]}},
			age, column{"Targets", "string", ".status.namespaces"}, ready, reason),
		"operatorconditions.operators.coreos.com": classic("OperatorCondition", "operatorconditions", "operatorcondition",
			[]string{"condition"}, []version{{"v1", false, both[:1]}, {"v2", true, both[:1]}},
			age, upgradeable, whyNot, age, upgradeable, whyNot),
		"olmconfigs.operators.coreos.com": clusterScoped(classic("OLMConfig", "olmconfigs", "olmconfig", nil,
			[]version{{"v1", true, both[:1]}}, age, column{"CopiesDisabled", "string", ".status.conditions[?(@.type=='DisabledCopiedCSVs')].status"}), "olm"),
		"operators.operators.coreos.com": clusterScoped(classic("Operator", "operators", "operator", nil,
			[]version{{"v1", true, nil}}, age, column{"CSV", "string", ".status.components.refs[?(@.kind=='ClusterServiceVersion')].name"}), "olm"),
		"clusterextensions.olm.operatorframework.io": clusterScoped(classic("ClusterExtension", "clusterextensions", "clusterextension",
			nil, []version{{"v1", true, nil}},
			column{"Installed Bundle", "string", ".status.install.bundle.name"}, column{"Version", "string", ".status.install.bundle.version"},
			column{"Installed", "string", ".status.conditions[?(@.type=='Installed')].status"}, progressing, age, ready, reason)),
		"clustercatalogs.olm.operatorframework.io": clusterScoped(classic("ClusterCatalog", "clustercatalogs", "clustercatalog",
			nil, []version{{"v1", true, both}},
			column{"LastUnpacked", "date", ".status.lastUnpacked"},
			column{"Serving", "string", ".status.conditions[?(@.type=='Serving')].status"}, age, ready, reason)),
		"clusterobjectsets.olm.operatorframework.io": clusterScoped(classic("ClusterObjectSet", "clusterobjectsets", "clusterobjectset",
			nil, []version{{"v1", true, nil}},
			column{"Available", "string", ".status.conditions[?(@.type=='Available')].status"}, progressing, age, ready, reason)),
	}
}

func TestShapes(t *testing.T) {
	got := map[string]shape{}
	for name, crd := range definitions(t) {
		names := crd.Spec.Names
		out := shape{
			Kind: names.Kind, ListKind: names.ListKind, Plural: names.Plural, Singular: names.Singular,
			ShortNames: names.ShortNames, Categories: names.Categories, Scope: crd.Spec.Scope,
		}
		for _, v := range crd.Spec.Versions {
			out.Versions = append(out.Versions, version{v.Name, v.Storage, v.Schema.OpenAPIV3Schema.Required})
			for _, c := range v.AdditionalPrinterColumns {
				out.Columns = append(out.Columns, column{c.Name, c.Type, c.JSONPath})
			}
		}
		got[name] = out
	}
	must.Equal(t, "CustomResourceDefinitions differ", got, shapes())
}

func TestEveryVersionIsServedWithStatus(t *testing.T) {
	for name, crd := range definitions(t) {
		if crd.Spec.Conversion != nil && crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
			t.Errorf("%s: conversion strategy is %s, want None", name, crd.Spec.Conversion.Strategy)
		}
		must.Equal(t, fmt.Sprintf("%s was generated by", name), crd.Annotations["controller-gen.kubebuilder.io/version"], "v0.20.0")
		for _, v := range crd.Spec.Versions {
			switch {
			case !v.Served:
				t.Errorf("%s %s is not served", name, v.Name)
			case v.Subresources == nil || v.Subresources.Status == nil:
				t.Errorf("%s %s has no status subresource", name, v.Name)
			case v.Subresources.Scale != nil:
				t.Errorf("%s %s has a scale subresource", name, v.Name)
			}
		}
	}
}

func TestGeneratorAnnotation(t *testing.T) {
	for name, crd := range definitions(t) {
		want := ""
		if crd.Spec.Group == "olm.operatorframework.io" {
			want = "experimental"
		}
		must.Equal(t, fmt.Sprintf("generator annotation of %s", name), crd.Annotations["olm.operatorframework.io/generator"], want)
	}
}

func TestAppliedSizeCountsWhatKubectlKeeps(t *testing.T) {
	for name, crd := range definitions(t) {
		data := must.Value(json.Marshal(crd))(t)
		if len(data) >= maxAnnotations {
			t.Errorf("%s: a Go client would send %d bytes, want less than %d", name, len(data), maxAnnotations)
		}
	}
}
