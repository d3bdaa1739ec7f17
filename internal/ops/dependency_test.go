package ops

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// depSet is an active revision of an extension, with annotations in pairs.
func depSet(of string, annotations ...string) olmv1.ClusterObjectSet {
	r := olmv1.ClusterObjectSet{}
	r.Name, r.UID, r.Annotations = of+"-1", types.UID(of+"-1"), map[string]string{}
	yes := true
	r.OwnerReferences = []metav1.OwnerReference{{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: of, UID: types.UID(of), Controller: &yes}}
	r.Spec.LifecycleState = olmv1.LifecycleStateActive
	for i := 0; i < len(annotations); i += 2 {
		r.Annotations[annotations[i]] = annotations[i+1]
	}
	return r
}

func depProperty(kind, value string) catalog.Property {
	return catalog.Property{Type: kind, Value: json.RawMessage(value)}
}

func TestInstalledBundle(t *testing.T) {
	named := []string{olmv1.BundleNameKey, "db.v1.2.0", olmv1.BundleVersionKey, "1.2.0"}
	for name, c := range map[string]struct {
		annotations []string
		version     string
		properties  []catalog.Property
		err         string
	}{
		"a version":                {nil, "1.2.0", nil, ""},
		"a release":                {[]string{olmv1.BundleReleaseKey, "2"}, "1.2.0-2", nil, ""},
		"properties":               {[]string{snapshot.PropertiesKey, `[{"type": "a", "value": 1}]`}, "1.2.0", []catalog.Property{depProperty("a", "1")}, ""},
		"no version":               {[]string{olmv1.BundleVersionKey, "new"}, "", nil, `read the annotations of revision db-1: read the version of installed bundle "db.v1.2.0"`},
		"no release":               {[]string{olmv1.BundleReleaseKey, "!"}, "", nil, `read the annotations of revision db-1: read the release of installed bundle "db.v1.2.0"`},
		"properties that are none": {[]string{snapshot.PropertiesKey, "{"}, "", nil, "read annotation operators.fairlead.dev/properties of revision db-1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := depSet("db", append(named[:4:4], c.annotations...)...)
			got, err := InstalledBundle(&r, ParseProperties)
			if c.err != "" {
				must.Fail(t, "the call", err, c.err)
				return
			}
			must.NoError(t, err)
			if diff := cmp.Diff(c.properties, got.Properties); got.Name != "db.v1.2.0" || got.Version.String() != c.version || diff != "" {
				t.Errorf("%s %s; properties (-want +got):\n%s", got.Name, got.Version, diff)
			}
		})
	}
}

// TestHeir gives the dependency db, made for the extension asker, to whom it belongs: each revision is that of an extension and what is known
// of its needs.
func TestHeir(t *testing.T) {
	const needs, other, unknown, broken = `[{"type": "olm.package.required", "value": {"packageName": "db"}}]`, `[{"type": "olm.package.required", "value": {"packageName": "x"}}]`, "", "{"
	archived, leaving := depSet("b", snapshot.PropertiesKey, needs), depSet("b", snapshot.PropertiesKey, needs)
	now := metav1.Now()
	archived.Spec.LifecycleState, leaving.DeletionTimestamp = olmv1.LifecycleStateArchived, &now
	nobodys := depSet("b", snapshot.PropertiesKey, needs)
	nobodys.OwnerReferences = nil
	of := func(extension, properties string) olmv1.ClusterObjectSet {
		return depSet(extension, olmv1.BundleNameKey, "x.v1.0.0", olmv1.BundleVersionKey, "1.0.0", snapshot.PropertiesKey, properties)
	}
	all := func(sets ...olmv1.ClusterObjectSet) []olmv1.ClusterObjectSet { return sets }
	for name, c := range map[string]struct {
		all   []olmv1.ClusterObjectSet
		going string
		want  string
	}{
		"nobody":                                 {nil, "", ""},
		"who asked":                              {all(of("asker", needs)), "", "asker"},
		"who asked and needs something else":     {all(of("asker", other)), "", ""},
		"who asked, before others":               {all(of("a", needs), of("asker", needs)), "", "asker"},
		"who asked may, before who surely does":  {all(of("a", needs), of("asker", unknown)), "", "asker"},
		"who asked is going":                     {all(of("asker", needs), of("b", needs)), "asker", "b"},
		"the first by name":                      {all(of("c", needs), of("b", needs)), "", "b"},
		"who surely does, before who may":        {all(of("a", unknown), of("b", needs)), "", "b"},
		"who may":                                {all(of("c", broken), of("b", unknown)), "", "b"},
		"whose properties are broken":            {all(of("c", broken)), "", "c"},
		"any revision":                           {all(of("b", other), of("b", needs)), "", "b"},
		"no archived revision":                   {all(archived), "", ""},
		"no revision that goes":                  {all(leaving), "", ""},
		"no revision that only calls itself one": {all(nobodys), "", ""},
		"not itself":                             {all(of("db", needs)), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := Dependency{Extension: &olmv1.ClusterExtension{}, For: "asker", What: &resolution.Installed{}}
			d.Extension.Name, d.Extension.Spec.Source.Catalog = "db", &olmv1.CatalogFilter{PackageName: "db"}
			read := func(r *olmv1.ClusterObjectSet) (*resolution.Installed, error) {
				return InstalledBundle(r, ParseProperties)
			}
			must.Equal(t, "it belongs to", d.Heir(c.all, map[string]bool{c.going: true}, read), c.want)
		})
	}
}

func TestHeldData(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, apiextensionsv1.AddToScheme(scheme))
	yes := true
	var crds []client.Object
	for _, name := range []string{"backups", "queries", "tables"} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name, crd.OwnerReferences = name, []metav1.OwnerReference{{Kind: olmv1.ClusterObjectSetKind, UID: "db-1", Controller: &yes}}
		crds = append(crds, crd)
	}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(crds...).Build()
	unreadable := interceptor.NewClient(cluster, interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("connection refused")
	}})
	having := func(n map[string]int64, err error) revision.Count {
		return func(_ context.Context, _ client.Reader, crd *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
			return n[crd.Name], false, err
		}
	}
	for name, c := range map[string]struct {
		cluster   client.Reader
		count     revision.Count
		want, err string
	}{
		"none":               {cluster, having(nil, nil), "", ""},
		"of one":             {cluster, having(map[string]int64{"queries": 2}, nil), "CustomResourceDefinition queries: it has 2 custom resources", ""},
		"of several":         {cluster, having(map[string]int64{"queries": 1, "tables": 1}, nil), "CustomResourceDefinition queries: it has 1 custom resource", ""},
		"perhaps":            {cluster, having(nil, errors.New("no answer")), "CustomResourceDefinition backups: it is not known whether it has custom resources: no answer", ""},
		"which nobody knows": {unreadable, having(nil, nil), "", "list the CustomResourceDefinitions"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := HeldData(t.Context(), c.cluster, c.count, []olmv1.ClusterObjectSet{depSet("db")})
			if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

// TestNeeds asks for the package db, whose bundle has the API Table of db.example.com. What is not sure counts.
func TestNeeds(t *testing.T) {
	provides := &resolution.Installed{Properties: []catalog.Property{depProperty("other", "{"), depProperty("olm.gvk", `{"group": "db.example.com", "version": "v1", "kind": "Table"}`)}}
	unknown := &resolution.Installed{}
	const anAPI = `{"group": "x.example.com", "version": "v1", "kind": "Kite"}`
	for name, c := range map[string]struct {
		kind, value string
		what        *resolution.Installed
		want        bool
	}{
		"the package":                     {"olm.package.required", `{"packageName": "db", "versionRange": ">=1"}`, provides, true},
		"another package":                 {"olm.package.required", `{"packageName": "dbx"}`, provides, false},
		"a package nobody can read":       {"olm.package.required", `[]`, provides, true},
		"the API":                         {"olm.gvk.required", `{"group": "db.example.com", "version": "v1", "kind": "Table"}`, provides, true},
		"the API in another version":      {"olm.gvk.required", `{"group": "db.example.com", "version": "v2", "kind": "Table"}`, provides, true},
		"another kind of its group":       {"olm.gvk.required", `{"group": "db.example.com", "version": "v1", "kind": "Tables"}`, provides, false},
		"its kind in another group":       {"olm.gvk.required", `{"group": "x.example.com", "version": "v1", "kind": "Table"}`, provides, false},
		"an API, and nobody knows it all": {"olm.gvk.required", anAPI, unknown, true},
		"an API, and nothing is there":    {"olm.gvk.required", anAPI, nil, false},
		"a constraint on the package":     {"olm.constraint", `{"all": {"constraints": [{"package": {"packageName": "db", "versionRange": ">=1"}}]}}`, provides, true},
		"a constraint on another package": {"olm.constraint", `{"package": {"packageName": "dbx", "versionRange": ">=1"}}`, provides, false},
		"a constraint on the API":         {"olm.constraint", `{"any": {"constraints": [{"gvk": {"group": "db.example.com", "version": "v1", "kind": "Table"}}]}}`, provides, true},
		"a rule, which may mean anything": {"olm.constraint", `{"cel": {"rule": "properties.exists(p, p.type == 'x')"}}`, provides, true},
		"a label, which may be anybody's": {"olm.label.required", `{"label": "fast"}`, provides, true},
		"what it provides itself":         {"olm.gvk", `{"group": "db.example.com", "version": "v1", "kind": "Table"}`, provides, false},
		"what it is":                      {"olm.package", `{"packageName": "db", "version": "1.0.0"}`, provides, false},
	} {
		t.Run(name, func(t *testing.T) {
			others := []catalog.Property{depProperty("olm.package", `{"packageName": "x", "version": "1.0.0"}`)}
			must.Equal(t, "needed", Needs(append(others, depProperty(c.kind, c.value)), "db", c.what), c.want)
		})
	}
	if Needs(nil, "db", provides) {
		t.Error("no properties need it")
	}
}

func TestParseProperties(t *testing.T) {
	got, err := ParseProperties(`[{"type": "olm.package", "value": {"a": 1}}, {"type": "b", "value": "c"}]`)
	if diff := cmp.Diff([]catalog.Property{depProperty("olm.package", `{"a": 1}`), depProperty("b", `"c"`)}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := ParseProperties(`[{"type": 1}]`); err == nil {
		t.Error("something else passes for properties")
	}
}
