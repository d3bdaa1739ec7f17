package catalogstore

import (
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

const (
	crds = `
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: things.example.com}
  spec:
    group: example.com
    scope: Namespaced
    names: {plural: things, singular: thing, kind: Thing}
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`
	csvs = `
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: a.v1.0.0}
  spec: {version: 1.0.0, displayName: A, install: {strategy: deployment}}
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: a.v2.0.0}
  spec:
    version: 2.0.0
    replaces: a.v1.0.0
    install: {strategy: deployment}
    customresourcedefinitions: {owned: [{name: things.example.com, version: v1, kind: Thing}]}
- apiVersion: operators.coreos.com/v1alpha1
  kind: ClusterServiceVersion
  metadata: {name: b.v1.0.0}
  spec: {version: 1.0.0, install: {strategy: deployment}}
`
	packages = `
- packageName: a
  defaultChannel: stable
  channels: [{name: stable, currentCSV: a.v2.0.0}, {name: old, currentCSV: a.v1.0.0}]
- packageName: b
  channels: [{name: only, currentCSV: b.v1.0.0}]
`
	fileBased = `{"schema":"olm.package","name":"c","defaultChannel":"stable"}
{"schema":"olm.channel","package":"c","name":"stable","entries":[{"name":"c.v1.0.0"}]}
{"schema":"olm.bundle","package":"c","name":"c.v1.0.0","image":"registry.example.com/c:v1","properties":[{"type":"olm.package","value":{"packageName":"c","version":"1.0.0"}}]}`
)

func index(t *testing.T, data map[string]string, binary map[string][]byte) *catalog.Index {
	t.Helper()
	read := must.Value(ReadConfigMap(t.Context(), data, binary))(t)
	c, err := catalog.Load(t.Context(), read.Files, catalog.LoadOptions{Problems: read.Problems})
	if err != nil && len(read.Problems) == 0 {
		t.Fatal(err)
	}
	x := must.Value(catalog.NewIndex(c, read.Digest))(t)
	return x
}

func TestManifests(t *testing.T) {
	x := index(t, map[string]string{"customResourceDefinitions": crds, "clusterServiceVersions": csvs, "packages": packages}, nil)
	if diff := cmp.Diff([]string{"a", "b"}, x.PackageNames()); diff != "" {
		t.Fatalf("packages (-want +got):\n%s", diff)
	}
	p, _ := x.Package("a")
	must.Equal(t, "package a: default channel channels", p.DefaultChannel, "stable")
	must.Equal(t, "package a: default channel channels", len(p.Channels), 2)
	b, ok := x.Bundle("a", "a.v2.0.0")
	if !ok {
		t.Fatal("a.v2.0.0 is not there")
	}
	manifests, err := x.Manifests(b)
	must.NoErrorf(t, err, "manifests")
	must.Equal(t, "manifests", len(manifests), 2)
	must.Equal(t, "providers of the API", len(x.Providers(catalog.GVK{Group: "example.com", Version: "v1", Kind: "Thing"})), 1)
}

func TestFileBasedCatalogs(t *testing.T) {
	x := index(t, map[string]string{"catalog.json": fileBased}, nil)
	must.Equal(t, "packages", x.PackageNames(), []string{"c"})
	x = index(t, map[string]string{"packages": packages, "clusterServiceVersions": csvs}, map[string][]byte{"more": []byte(fileBased)})
	must.Equal(t, "both forms and both kinds of data", x.PackageNames(), []string{"a", "b", "c"})
}

func TestTheDigestFollowsTheContent(t *testing.T) {
	seen := map[string]string{}
	for name, data := range map[string]map[string]string{
		"a catalog": {"a": fileBased}, "under another name": {"b": fileBased}, "with more": {"a": fileBased, "c": "x"}, "with other content": {"a": fileBased + "\n"},
	} {
		read, err := ReadConfigMap(t.Context(), data, nil)
		digest := read.Digest
		must.NoError(t, err)
		if other, ok := seen[digest]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[digest] = name
		if again, _ := ReadConfigMap(t.Context(), data, nil); again.Digest != digest {
			t.Errorf("%s has two digests", name)
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct {
		data map[string]string
		want string
	}{
		"nothing":                        {nil, "it is empty; put a file-based catalog into it"},
		"empty manifests":                {map[string]string{"packages": "", "clusterServiceVersions": ""}, "it is empty"},
		"no list":                        {map[string]string{"packages": "a: b"}, "read the key packages, which holds a list"},
		"no YAML":                        {map[string]string{"packages": packages, "clusterServiceVersions": "- {"}, "read the key clusterServiceVersions"},
		"a list of something else":       {map[string]string{"packages": "- 1"}, "packages[0]: it cannot be read and is left out"},
		"no packages":                    {map[string]string{"clusterServiceVersions": csvs}, "the key packages lists no package"},
		"a CSV without name":             {map[string]string{"packages": packages, "clusterServiceVersions": "- {kind: ClusterServiceVersion}"}, "clusterServiceVersions[0]: it has no metadata.name"},
		"a head that is nowhere":         {map[string]string{"packages": packages}, `packages[0].channels[0]: channel stable of package a is left out, because its head "a.v2.0.0" is none of the clusterServiceVersions`},
		"a CSV that is none":             {map[string]string{"packages": "- {packageName: a, channels: [{name: s, currentCSV: x}]}", "clusterServiceVersions": "- {metadata: {name: x}}"}, "packages[0]"},
		"a definition without any names": {map[string]string{"packages": packages, "customResourceDefinitions": "- {}"}, "customResourceDefinitions[0]: it has no metadata.name"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadConfigMap(t.Context(), test.data, nil)
			must.Fail(t, "ReadConfigMap", err, test.want)
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(packages, csvs, crds)
	f.Add("- {packageName: a, channels: [{name: s, currentCSV: a.v1}]}", "- {metadata: {name: a.v1}, spec: {replaces: a.v1}}", "[]")
	f.Fuzz(func(t *testing.T, packages, csvs, crds string) {
		data := map[string]string{keyPackages: packages, keyCSVs: csvs, keyCRDs: crds}
		read, err := ReadConfigMap(t.Context(), data, nil)
		if (read.Files == nil) == (err == nil) {
			t.Errorf("a tree %v, and the error %v", read.Files != nil, err)
		}
	})
}
