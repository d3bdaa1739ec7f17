package catalog

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

// object is an olm.bundle.object with a manifest.
func object(manifest string) Property {
	return Property{PropertyBundleObject, json.RawMessage(`{"data":"` + base64.StdEncoding.EncodeToString([]byte(manifest)) + `"}`)}
}

const richCSV = `
kind: ClusterServiceVersion
metadata:
  name: p.v1
  annotations: {alm-examples: "[<1>]", a: "9007199254740993"}
  labels: {l: m}
spec:
  displayName: Pé
  description: ""
  installModes: [{type: AllNamespaces, supported: true}]
  keywords: []
  customresourcedefinitions:
    owned: [{name: as.g, kind: A, version: v1, statusDescriptors: [{path: x, value: 12345678901234567890}]}]
  install: {strategy: deployment}
  icon: [{base64data: AA==, mediatype: image/png}]
  relatedImages: [{name: r, image: i}]
  provider: {name: we}
  version: 1.0.0
  minKubeVersion: 1.20.0
  unknown: x
`

const richMetadata = `{"annotations":{"a":"9007199254740993","alm-examples":"[<1>]"},"apiServiceDefinitions":{},` +
	`"crdDescriptions":{"owned":[{"kind":"A","name":"as.g","statusDescriptors":[{"path":"x","value":12345678901234567890}],"version":"v1"}]},` +
	`"displayName":"Pé","installModes":[{"supported":true,"type":"AllNamespaces"}],"labels":{"l":"m"},"minKubeVersion":"1.20.0","provider":{"name":"we"}}`

// sparseCSV has what real ones have: keys with nothing in them, keys in capitals, parts left out, and parts that mean nothing.
const sparseCSV = `
kind: ClusterServiceVersion
metadata: {annotations: {none: }, labels: {}}
spec:
  displayName: ""
  keywords: [a, null]
  links: [{}]
  maintainers: [{name: "", email: m@example.com}]
  installModes: [{type: AllNamespaces}]
  nativeAPIs: [{kind: A}]
  provider: {name: "", other: x}
  customresourcedefinitions:
    required: []
    owned:
    - kind: A
      description: ""
      resources: [{Kind: Job}, {version: v1, name: r, kind: K, group: x}]
      statusDescriptors: []
      specDescriptors: [{displayName: D, x-descriptors: [], value: null}]
      actionDescriptors: null
      other: x
  apiservicedefinitions: {owned: [{name: r, containerPort: 0}, {containerPort: 443, deploymentName: d}], required: null}
`

const sparseMetadata = `{"annotations":{"none":""},` +
	`"apiServiceDefinitions":{"owned":[{"group":"","kind":"","name":"r","version":""},` +
	`{"containerPort":443,"deploymentName":"d","group":"","kind":"","name":"","version":""}]},` +
	`"crdDescriptions":{"owned":[{"kind":"A","name":"","resources":[{"kind":"Job","name":"","version":""},{"kind":"K","name":"r","version":"v1"}],` +
	`"specDescriptors":[{"displayName":"D","path":"","value":null}],"version":""}]},` +
	`"installModes":[{"supported":false,"type":"AllNamespaces"}],"keywords":["a",""],"links":[{}],"maintainers":[{"email":"m@example.com"}],` +
	`"nativeAPIs":[{"group":"","kind":"A","version":""}],"provider":{}}`

func TestMigrate(t *testing.T) {
	property := Property{PropertyPackage, json.RawMessage(`{"packageName":"p","version":"1.0.0"}`)}
	last := Property{"z", json.RawMessage(`1`)}
	metadata := Property{PropertyCSVMetadata, json.RawMessage(`{"displayName":"old"}`)}
	minimal := Property{PropertyCSVMetadata, json.RawMessage(`{"apiServiceDefinitions":{},"crdDescriptions":{},"provider":{}}`)}
	crd := object(`{"kind":"CustomResourceDefinition"}`)
	for name, test := range map[string]struct {
		image string
		in    []Property
		want  []Property // nil: as it was
	}{
		"a CSV and others":     {"i", []Property{crd, property, object(richCSV), last}, []Property{property, last, {PropertyCSVMetadata, json.RawMessage(richMetadata)}}},
		"an empty CSV":         {"i", []Property{object(`{"kind":"ClusterServiceVersion"}`)}, []Property{minimal}},
		"the first CSV":        {"i", []Property{object(`{"KIND":"ClusterServiceVersion","Spec":{"displayname":"A","version":null}}`), object(richCSV)}, []Property{{PropertyCSVMetadata, json.RawMessage(`{"apiServiceDefinitions":{},"crdDescriptions":{},"displayName":"A","provider":{}}`)}}},
		"what is empty inside": {"i", []Property{object(sparseCSV)}, []Property{{PropertyCSVMetadata, json.RawMessage(sparseMetadata)}}},
		"no image":             {"", []Property{property, object(richCSV)}, nil},
		"no CSV":               {"i", []Property{property, crd}, nil},
		"no manifests":         {"i", []Property{property, last}, nil},
		"metadata, too":        {"i", []Property{crd, property, metadata, object(richCSV), last}, nil},
		"metadata is before":   {"i", []Property{metadata, object(richCSV), property}, nil},
	} {
		for _, form := range []string{"packed", "loose"} {
			t.Run(name+", "+form, func(t *testing.T) {
				b := Bundle{Package: "p", Name: "p.v1", Image: test.image, Properties: test.in}
				if form == "packed" {
					b.setProperties(test.in)
				}
				c := &Catalog{Bundles: []Bundle{b}}
				before := written(t, WriteJSON, c)
				for _, level := range []MigrationLevel{MigrateCSVMetadata, MigrateAll} {
					migrated := must.Value(Migrate(c, level))(t)
					want := test.want
					if want == nil {
						want = test.in
					}
					got := must.Value(migrated.Bundles[0].AllProperties())(t)
					must.Equal(t, "properties", got, want)
				}
				if string(before) != string(written(t, WriteJSON, c)) {
					t.Error("the catalog that was given has changed")
				}
				if same, err := Migrate(c, MigrateNone); err != nil || same != c {
					t.Errorf("level none: another catalog, or %v", err)
				}
			})
		}
	}
}

func TestMigrateRefuses(t *testing.T) {
	at := func(p Property) *Catalog {
		return &Catalog{Bundles: []Bundle{{Package: "p", Name: "b", Image: "i", Position: Position{"f.yaml", 3}, Properties: []Property{p}}}}
	}
	for name, test := range map[string]struct {
		c     *Catalog
		level MigrationLevel
		want  string
	}{
		"an unknown level":    {&Catalog{}, "x", `unknown migration level "x"; choose one of none, bundle-object-to-csv-metadata, all`},
		"no manifest":         {at(Property{PropertyBundleObject, json.RawMessage(`{}`)}), MigrateAll, `migrate bundle "b" of package "p" at f.yaml:3 to level all: property[0] of type "olm.bundle.object": the value has no data`},
		"broken YAML":         {at(object("a: b: c")), MigrateAll, "the manifest is neither JSON nor YAML"},
		"a port that is none": {at(object("{kind: ClusterServiceVersion, spec: {apiservicedefinitions: {owned: [{containerPort: 4.5}]}}}")), MigrateAll, `the CSV cannot be described by an "olm.csv.metadata" property: `},
		"a CSV out of form":   {at(object("{kind: ClusterServiceVersion, spec: {keywords: a}}")), MigrateAll, `the CSV cannot be described by an "olm.csv.metadata" property: "keywords" is a string, not a list`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Migrate(test.c, test.level); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// FuzzMigrate makes metadata from any manifest: what comes out is accepted by
// Validate and can be written and read.
func FuzzMigrate(f *testing.F) {
	f.Add([]byte(richCSV))
	f.Add([]byte(`{"kind":"ClusterServiceVersion","spec":{"links":[{"name":1}]}}`))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		c := &Catalog{Bundles: []Bundle{{Package: "p", Name: "b", Image: "i", Properties: []Property{object(string(manifest))}}}}
		migrated, err := Migrate(c, MigrateAll)
		if err != nil {
			return
		}
		for _, p := range Validate(migrated) {
			if p.Rule == RuleBundleCSVMetadata {
				t.Errorf("%s becomes invalid metadata: %v", manifest, p)
			}
		}
		checkRewrite(t, migrated)
	})
}

// TestPublishedMetadata reads each olm.csv.metadata of the public catalogs, which other tools wrote, and writes it again: the format that
// is written here is that format, with every field that real operators have.
func TestPublishedMetadata(t *testing.T) {
	for archive, least := range map[string]int{publicdata.OwnCatalog: 700, publicdata.FullCatalog: 6900} {
		t.Run(archive, func(t *testing.T) {
			if archive == publicdata.FullCatalog && !sweep.Whole() {
				t.Skip("147 MB of catalogs take a while: they are tried with FAIRLEAD_TEST_SWEEP=1")
			}
			compared := 0
			publicdata.Each(t, archive, func(name string, content func() []byte) {
				c, err := Load(t.Context(), files(map[string]string{"catalog.yaml": string(content())}), LoadOptions{})
				must.NoErrorf(t, err, "load %s", name)
				for i := range c.Bundles {
					compared += compareMetadata(t, name, &c.Bundles[i])
				}
			})
			if compared < least {
				t.Errorf("only %d bundles have metadata; want %d", compared, least)
			}
		})
	}
}

// compareMetadata writes the metadata of a bundle again. It returns how many there are.
func compareMetadata(t *testing.T, file string, b *Bundle) (found int) {
	t.Helper()
	all, err := b.AllProperties()
	must.NoErrorf(t, err, "read the properties of bundle %s of %s", b.Name, file)
	for _, p := range all {
		if p.Type != PropertyCSVMetadata {
			continue
		}
		fields := map[string][]byte{}
		for key, value := range rawjson.Members(p.Value) {
			fields[key] = value
		}
		again, err := csvMetadataProperty(fields)
		if err != nil {
			t.Errorf("bundle %s of %s: %v", b.Name, file, err)
			continue
		}
		found++
		if string(again.Value) != string(rawjson.AppendCanonical(nil, p.Value)) {
			t.Errorf("the metadata of bundle %s of %s is written differently (-published +ours):\n%.2000s", b.Name, file,
				cmp.Diff(strings.SplitAfter(string(p.Value), ","), strings.SplitAfter(string(again.Value), ",")))
		}
	}
	return found
}
