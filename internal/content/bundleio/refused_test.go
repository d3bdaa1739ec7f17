package bundleio

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// The files of a bundle that is rendered.
const (
	annotationsFile = "metadata/annotations.yaml"
	csvFile         = "manifests/csv.yaml"
	annotationsText = `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.package.v1: op
`
	csvText = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: op.v1.0.0}
spec:
  version: 1.0.0
  displayName: Op
  customresourcedefinitions:
    owned:
    - {name: things.example.com, version: v1, kind: Thing}
`
	crdText = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}
`
)

// refusal is a bundle that is not rendered, by what is different in its files, and what is said.
type refusal struct {
	files map[string]string // an empty text: the file is not there
	want  string
}

// csv is the ClusterServiceVersion with a text in place of another.
func csv(old, text string) map[string]string {
	return map[string]string{csvFile: strings.Replace(csvText, old, text, 1)}
}

func annotations(old, text string) map[string]string {
	return map[string]string{annotationsFile: strings.Replace(annotationsText, old, text, 1)}
}

// another is one more manifest.
func another(text string) map[string]string { return map[string]string{"manifests/other.yaml": text} }

// metadata is one more metadata file.
func metadata(text string) map[string]string { return map[string]string{"metadata/other.yaml": text} }

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: "

// refusals are the rows of the table in docs/opm.md.
var refusals = map[string]refusal{
	"an owned CRD that the bundle does not have":          {map[string]string{"manifests/crd.yaml": ""}, "the CRD things.example.com is not in the bundle"},
	"an owned CRD that has another kind in the bundle":    {csv("kind: Thing", "kind: Other"), "does not define"},
	"an owned CRD that has no such version in the bundle": {csv("version: v1,", "version: v2,"), "does not define"},
	"an owned or required CRD whose name has no group":    {csv("    owned:\n", "    required: [{name: a, version: v1, kind: A}]\n    owned:\n"), "required[0].name"},
	"no `spec.version`": {csv("  version: 1.0.0\n", ""), "spec.version: there is none"},
	"a `spec.version` such as `1.2`, `v1.2.3` or with blanks":  {csv("1.0.0\n", "v1.2\n"), "write it as 1.2.0"},
	"a `spec.version` that is none":                            {csv("1.0.0\n", "new\n"), "write it as MAJOR.MINOR.PATCH"},
	"a `spec.release` that is none":                            {csv("  version: 1.0.0\n", "  version: 1.0.0\n  release: \"01\"\n"), "release"},
	"a manifest with a kind and no apiVersion":                 {another("kind: ServiceAccount\nmetadata: {name: x}\n"), "manifests/other.yaml: the manifest has a kind and no apiVersion"},
	"a ClusterServiceVersion without apiVersion":               {csv("apiVersion: operators.coreos.com/v1alpha1\n", ""), "the ClusterServiceVersion has no apiVersion"},
	"no ClusterServiceVersion":                                 {map[string]string{csvFile: ""}, "none of the files is a ClusterServiceVersion"},
	"a second ClusterServiceVersion":                           {another(csvText), "a second ClusterServiceVersion"},
	"a field of the ClusterServiceVersion of another type":     {csv("displayName: Op", "displayName: [Op]"), "does not have the form of its kind"},
	"a quantity of more than 1000 characters, or below 1e-999": {csv("  displayName: Op\n", "  install: {strategy: deployment, spec: {x: \"1e-99999\"}}\n"), "is too small for a number"},
	"a `.yaml`, `.yml` or `.json` file that cannot be read":    {another("a: b: c\n"), "parse"},
	"a merge key (`<<`) of something that is no mapping":       {another("<<: a\n"), "a merge key needs a mapping"},
	"a kind that bundles do not hold":                          {another("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n"), "kind Deployment is not supported in bundles"},
	"an apiVersion or a kind that is no text":                  {another("apiVersion: 1\nkind: ConfigMap\nmetadata: {name: x}\n"), "apiVersion and kind have to be texts"},
	"an object without metadata":                               {another("apiVersion: v1\nkind: ConfigMap\n"), "ConfigMap without metadata"},
	"an object without a name":                                 {another("apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n"), "ConfigMap without metadata.name"},
	"values that are nested more than 200 deep":                {another(configMap + strings.Repeat("[", 250) + strings.Repeat("]", 250) + "\n"), "nested more than 200 deep"},
	"an anchor that contains itself":                           {another(configMap + "&a {a: *a}\n"), "contains itself"},
	"more than 500,000 values in a file":                       {another(configMap + "[" + strings.Repeat("0,", 500_001) + "0]\n"), "more than 500000"},
	"a file of more than 8 MiB, or 64 MiB in all":              {another("#" + strings.Repeat(" ", 8<<20)), "larger than 8388608 bytes"},
	"more than 1000 files in a directory":                      {thousandFiles(), "more than 1000 files"},
	"no annotations":                                           {map[string]string{annotationsFile: "other: {}\n"}, "no file holds the annotations of a bundle"},
	"annotations that are not texts":                           {annotations(": op\n", ": [op]\n"), "want a text for operators.operatorframework.io.bundle.package.v1"},
	"no package":                                               {annotations("  operators.operatorframework.io.bundle.package.v1: op\n", ""), "it names no package"},
	"a media type other than `registry+v1`":                    {annotations("registry+v1", "helm"), `media type "helm" is not supported`},
	"manifests outside the bundle, or among the metadata":      {annotations("manifests/", "../manifests"), "is not a directory of the bundle"},
	"dependencies or properties that are no list":              {metadata("dependencies: {type: olm.gvk}\n"), "want a list of entries with type and value"},
	"one of them without a type or a value":                    {metadata("properties: [{value: 1}]\n"), "type is missing"},
	"an `olm.package` or `olm.gvk` dependency that is no such": {metadata("dependencies: [{type: olm.package, value: [a]}]\n"), "read dependency 0 of bundle op.v1.0.0"},
	"two different `olm.package` properties":                   {metadata("properties: [{type: olm.package, value: {packageName: op, version: 1.0.0}}, {type: olm.package, value: {packageName: op, version: 2.0.0}}]\n"), "it has 2 properties olm.package"},
}

func thousandFiles() map[string]string {
	files := map[string]string{}
	for i := range 1001 {
		files[fmt.Sprintf("manifests/%d", i)] = "x"
	}
	return files
}

// TestRefusedBundles renders a bundle that differs in one thing from one that is rendered.
func TestRefusedBundles(t *testing.T) {
	good := map[string]string{annotationsFile: annotationsText, csvFile: csvText, "manifests/crd.yaml": crdText}
	must.Value((&Renderer{}).Render(t.Context(), write(t, good)))(t)
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(good)
			maps.Copy(files, test.files)
			maps.DeleteFunc(files, func(_, text string) bool { return text == "" })
			c, err := (&Renderer{}).Render(t.Context(), write(t, files))
			if err == nil || c != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("catalog %v, error %v; want %q", c, err, test.want)
			}
		})
	}
}

// TestRefusedBundlesAreOnThePage compares the rows of the page with the bundles that are tested.
func TestRefusedBundlesAreOnThePage(t *testing.T) {
	page := must.Value(os.ReadFile(filepath.Join("..", "..", "..", "docs", "opm.md")))(t)
	_, section, _ := strings.Cut(string(page), "\n## What render refuses\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var got []string
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) == 2 && !strings.HasPrefix(cells[0], "---") && strings.TrimSpace(cells[0]) != "the bundle has" {
			got = append(got, strings.TrimSpace(cells[0]))
		}
	}
	slices.Sort(got)
	must.Equal(t, "rows (-tested +page", got, slices.Sorted(maps.Keys(refusals)))
}
