package bundle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"
)

const configMapYAML = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"

func configMap(name string) string { return fmt.Sprintf(configMapYAML, name) }

func TestLoad(t *testing.T) {
	b := loadTest(t, map[string]string{
		"manifests/b.yaml":           configMap("b"),
		"manifests/a.json":           `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}`,
		"metadata/dependencies.yaml": "dependencies:\n- {type: olm.package, value: {packageName: other, version: '>=1.0.0 <2.0.0'}}\n",
		"metadata/properties.yaml":   "properties:\n- {type: olm.maxOpenShiftVersion, value: '4.9'}\n- {type: x, value: {b: 1, a: [true]}}\n",
	})
	must.Empty(t, "warnings", b.Warnings)
	type facts struct {
		Name, Package, DefaultChannel, CSV string
		Channels, Objects                  []string
		Version                            version.VersionRelease
		Properties                         []catalog.Property
		Dependencies                       []Dependency
	}
	got := facts{Name: b.Name, Package: b.Package, DefaultChannel: b.DefaultChannel, CSV: b.CSV.Name, Channels: b.Channels,
		Version: b.Version, Properties: b.Properties, Dependencies: b.Dependencies}
	for _, object := range b.AllObjects() {
		got.Objects = append(got.Objects, object.GetKind()+" "+object.GetName())
	}
	want := facts{
		Name: "op.v1.0.0", Package: "op", DefaultChannel: "alpha", CSV: "op.v1.0.0", Channels: []string{"stable", "alpha"},
		Objects:      []string{"ClusterServiceVersion op.v1.0.0", "Secret a", "ConfigMap b", "CustomResourceDefinition things.example.com"},
		Version:      version.VersionRelease{Version: semver.MustParse("1.0.0")},
		Properties:   []catalog.Property{{Type: "olm.maxOpenShiftVersion", Value: json.RawMessage(`"4.9"`)}, {Type: "x", Value: json.RawMessage(`{"a":[true],"b":1}`)}},
		Dependencies: []Dependency{{Type: "olm.package", Value: json.RawMessage(`{"packageName":"other","version":">=1.0.0 <2.0.0"}`)}},
	}
	must.Equal(t, "result", got, want)
}

func TestLoadVersion(t *testing.T) {
	csv := func(fields, annotations string) map[string]string {
		text := strings.Replace(testCSVYAML, "  version: 1.0.0\n", fields, 1)
		return map[string]string{"manifests/csv.yaml": strings.Replace(text, "metadata:\n", "metadata:\n"+annotations, 1)}
	}
	substitutes := "  annotations: {olm.substitutesFor: op.v0.9.0}\n"
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"a version":                  {csv("  version: 1.2.3-rc.1\n", ""), "1.2.3-rc.1"},
		"a tolerant version":         {csv("  version: v1.2\n", ""), "1.2.0"},
		"no version":                 {csv("", ""), "0.0.0"},
		"a release":                  {csv("  version: 1.0.0\n  release: '2.a'\n", ""), "1.0.0-2.a"},
		"a number as release":        {csv("  version: 1.0.0\n  release: 2\n", ""), "1.0.0-2"},
		"build metadata":             {csv("  version: 1.0.0+7\n", ""), "1.0.0+7"},
		"a rebuild of old":           {csv("  version: 1.0.0+7\n", substitutes), "1.0.0-7"},
		"a rebuild that has release": {csv("  version: 1.0.0+7\n  release: 2\n", substitutes), "1.0.0+7-2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "Version", loadTest(t, tc.files).Version.String(), tc.want)
		})
	}
}

func TestLoadWarns(t *testing.T) {
	tests := map[string]struct {
		files map[string]string
		want  string
	}{
		"several documents":        {map[string]string{"manifests/x.yaml": configMap("x") + "---\n" + configMap("y")}, "manifests/x.yaml: only the first YAML document"},
		"a text":                   {map[string]string{"manifests/README.md": "# Read: [me"}, "manifests/README.md: passed over"},
		"no object":                {map[string]string{"manifests/values.yaml": "replicas: 1"}, "manifests/values.yaml: passed over: not a Kubernetes object"},
		"an empty file":            {map[string]string{"manifests/x.yaml": "# nothing\n"}, "manifests/x.yaml: passed over"},
		"a directory":              {map[string]string{"manifests/more/x.yaml": configMap("x")}, "manifests/more: passed over"},
		"annotations twice":        {map[string]string{"metadata/b.yaml": "annotations: {a: b}"}, "metadata/b.yaml: annotations passed over: metadata/annotations.yaml has them"},
		"a text in the metadata":   {map[string]string{"metadata/LICENSE": "Hear: ye: [hear"}, "metadata/LICENSE: passed over"},
		"a directory not there":    {map[string]string{"metadata/annotations.yaml": strings.Replace(testAnnotationsYAML, "manifests/\n", "deploy/\n", 1)}, `there is no directory "deploy/"`},
		"a group that is no group": {map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "operators.coreos.com", "x.operators.coreos.com", 1)}, "apiVersion x.operators.coreos.com/v1alpha1 read as operators.coreos.com/v1alpha1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, tc.files)
			if len(b.Warnings) != 1 || !strings.Contains(b.Warnings[0], tc.want) {
				t.Errorf("warnings %q, want one with %q", b.Warnings, tc.want)
			}
			if b.CSV.APIVersion != "operators.coreos.com/v1alpha1" || len(b.Objects) == 0 {
				t.Errorf("the rest was not loaded: %+v", b)
			}
		})
	}
}

func TestLoadIgnoresHiddenFiles(t *testing.T) {
	b := loadTest(t, map[string]string{"manifests/.x.yaml": "kind: [", "metadata/.y.yaml": "["})
	if len(b.Warnings) != 0 || len(b.Objects) != 1 {
		t.Errorf("warnings %q, %d objects", b.Warnings, len(b.Objects))
	}
}

func TestLoadByContent(t *testing.T) {
	b := loadTest(t, map[string]string{
		"metadata/annotations.yaml": "",
		"metadata/0-empty.yaml":     "annotations: {}\nproperties: []\n",
		"metadata/all.yml":          testAnnotationsYAML + "dependencies:\n- {type: olm.gvk, value: {group: g, version: v1, kind: K}}\nproperties:\n- {type: p, value: null}\n",
	})
	if b.Package != "op" || len(b.Dependencies) != 1 || len(b.Properties) != 1 {
		t.Errorf("package %q, dependencies %v, properties %v", b.Package, b.Dependencies, b.Properties)
	}
}

func TestLoadAnnotations(t *testing.T) {
	b := loadTest(t, map[string]string{
		"metadata/annotations.yaml": "annotations:\n  " + AnnotationManifests + ": /deploy/bundle/\n  " + AnnotationPackage + ": op\n  " +
			AnnotationChannels + ": ' 4.10 , ,4.9'\n  " + AnnotationDefaultChannel + ": 4.10\n  other: ~\n  flag: yes\n",
		"deploy/bundle/csv.yaml": testCSVYAML,
	})
	if diff := cmp.Diff([]string{"4.10", "4.9"}, b.Channels); diff != "" || b.DefaultChannel != "4.10" {
		t.Errorf("default channel %q; channels (-want +got):\n%s", b.DefaultChannel, diff)
	}
	if b.Annotations["other"] != "" || b.Annotations["flag"] != "yes" {
		t.Errorf("annotations %v", b.Annotations)
	}
	must.Empty(t, "objects of another directory", b.Objects)
}

func TestLoadRefuses(t *testing.T) {
	annotations := func(old, new string) map[string]string {
		return map[string]string{"metadata/annotations.yaml": strings.Replace(testAnnotationsYAML, old, new, 1)}
	}
	manifest := func(content string) map[string]string { return map[string]string{"manifests/x.yaml": content} }
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"no metadata":            {map[string]string{"metadata/annotations.yaml": ""}, []string{"read directory metadata"}},
		"no annotations":         {map[string]string{"metadata/annotations.yaml": "x: 1"}, []string{"no file holds the annotations"}},
		"broken annotations":     {map[string]string{"metadata/annotations.yaml": "annotations: ["}, []string{"metadata/annotations.yaml", "parse"}},
		"a list of annotations":  {map[string]string{"metadata/annotations.yaml": "annotations: [a]"}, []string{"metadata/annotations.yaml: annotations", "want a mapping"}},
		"nested annotations":     {map[string]string{"metadata/annotations.yaml": "annotations: {a: {b: c}}"}, []string{"metadata/annotations.yaml", "want a text for a"}},
		"another media type":     {annotations("registry+v1", "helm"), []string{`"helm" is not supported`}},
		"a directory outside":    {annotations("manifests/\n", "../x\n"), []string{`"../x" is not a directory of the bundle`}},
		"the root as directory":  {annotations("manifests/\n", "/\n"), []string{`"/" is not a directory of the bundle`}},
		"no manifests":           {map[string]string{"manifests/csv.yaml": "", "manifests/things.crd.yaml": ""}, []string{"read directory manifests"}},
		"only hidden manifests":  {map[string]string{"manifests/csv.yaml": "", "manifests/things.crd.yaml": "", "manifests/.x": "x"}, []string{"no files in manifests"}},
		"no CSV":                 {map[string]string{"manifests/csv.yaml": ""}, []string{"none of the files is a ClusterServiceVersion"}},
		"no apiVersion":          {map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "apiVersion: operators.coreos.com/v1alpha1\n", "", 1)}, []string{"manifests/csv.yaml", "missing APIVersion: the ClusterServiceVersion has no apiVersion"}},
		"two CSVs":               {manifest(testCSVYAML), []string{"manifests/x.yaml", "a second ClusterServiceVersion"}},
		"broken YAML":            {manifest("a: ["), []string{"manifests/x.yaml", "line 1"}},
		"a kind not supported":   {manifest("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}"), []string{"manifests/x.yaml", "kind Deployment is not supported", "ConfigMap"}},
		"a kind that is no text": {manifest("apiVersion: v1\nkind: 1\nmetadata: {name: x}"), []string{"manifests/x.yaml", "have to be texts"}},
		"no object metadata":     {manifest("apiVersion: v1\nkind: Secret"), []string{"manifests/x.yaml", "Secret without metadata"}},
		"no object name":         {manifest("apiVersion: v1\nkind: Secret\nmetadata: {generateName: x}"), []string{"manifests/x.yaml", "Secret without metadata.name"}},
		"a CSV of another form":  {map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "- {name: manager", "- {stdin: 3, name: manager", 1)}, []string{"manifests/csv.yaml", "op.v1.0.0", "stdin"}},
		"a bad version":          {map[string]string{"manifests/csv.yaml": strings.Replace(testCSVYAML, "version: 1.0.0", "version: one", 1)}, []string{"manifests/csv.yaml", `"one"`}},
		"dependencies as text":   {map[string]string{"metadata/d.yaml": "dependencies: {a: b}"}, []string{"metadata/d.yaml: dependencies", "want a list"}},
		"a dependency as text":   {map[string]string{"metadata/d.yaml": "dependencies: [a]"}, []string{"metadata/d.yaml", "entry 0", "want a mapping"}},
		"no type":                {map[string]string{"metadata/d.yaml": "properties: [{value: 1}]"}, []string{"metadata/d.yaml: properties", "entry 0", "type is missing"}},
		"no value":               {map[string]string{"metadata/d.yaml": "properties: [{type: a}]"}, []string{"metadata/d.yaml", "value of a is missing"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load(bundleFiles(tc.files))
			wantError(t, err, append(tc.want, "load bundle")...)
		})
	}
}

func TestLoadLimits(t *testing.T) {
	tests := map[string]struct {
		change func(*limits)
		want   string
	}{
		"files":       {func(l *limits) { l.files = 1 }, "read directory manifests: more than 1 files"},
		"file bytes":  {func(l *limits) { l.fileBytes = 500 }, "read manifests/csv.yaml: larger than 500 bytes"},
		"total bytes": {func(l *limits) { l.totalBytes = 700 }, "read manifests/csv.yaml: the bundle is larger than 700 bytes"},
		"tokens":      {func(l *limits) { l.tokens = 40 }, "read manifests/csv.yaml: more than 40 YAML separators"},
		"all tokens":  {func(l *limits) { l.totalTokens = 80 }, "read manifests/things.crd.yaml: more than 80 YAML separators in the files up to this one"},
		"all values":  {func(l *limits) { l.totalValues = 50 }, "read manifests: more than 50 values in all, aliases expanded"},
		"depth":       {func(l *limits) { l.depth = 7 }, "read manifests/csv.yaml: line 19: nested more than 7 deep"},
		"values":      {func(l *limits) { l.values = 30 }, "read manifests/csv.yaml: line 21: more than 30 values"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lim := defaultLimits
			tc.change(&lim)
			err := inspect(bundleFiles(nil), lim).err()
			wantError(t, err, tc.want)
		})
	}
}

// brokenFS fails to open one file.
type brokenFS struct {
	fstest.MapFS
	broken string
}

func (f brokenFS) Open(name string) (fs.File, error) {
	if name == f.broken {
		return nil, fs.ErrPermission
	}
	return f.MapFS.Open(name)
}

func TestLoadNamesUnreadableFile(t *testing.T) {
	_, err := Load(brokenFS{bundleFiles(nil), "manifests/csv.yaml"})
	wantError(t, err, "open manifests/csv.yaml")
}

func TestFromManifests(t *testing.T) {
	files := bundleFiles(nil)
	var manifests []json.RawMessage
	for _, name := range []string{"manifests/things.crd.yaml", "manifests/csv.yaml"} {
		value, _, err := decodeValue(file{data: files[name].Data}, defaultLimits)
		must.NoError(t, err)
		raw := must.Value(compactJSON(value))(t)
		manifests = append(manifests, raw)
	}
	got := must.Value(FromManifests(manifests))(t)
	want := loadTest(t, nil)
	if got.Package != "" || got.Annotations != nil || got.Name != want.Name || got.Version.Compare(want.Version) != 0 {
		t.Errorf("got %+v", got)
	}
	must.Equal(t, "objects", got.AllObjects(), want.AllObjects())
}

func TestFromManifestsRefuses(t *testing.T) {
	tests := map[string]struct {
		manifests []json.RawMessage
		want      string
	}{
		"nothing":        {nil, "no manifests"},
		"too many":       {make([]json.RawMessage, 1001), "more than 1000 manifests"},
		"too large":      {[]json.RawMessage{make(json.RawMessage, 8<<20+1)}, "inline/0.json: larger than"},
		"broken":         {[]json.RawMessage{json.RawMessage(`{`)}, "inline/0.json: parse"},
		"not supported":  {[]json.RawMessage{json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}`)}, "inline/0.json: kind Pod is not supported"},
		"without a CSV":  {[]json.RawMessage{json.RawMessage(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`)}, "none of the files is a ClusterServiceVersion"},
		"larger in all":  {[]json.RawMessage{make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 8<<20), make(json.RawMessage, 1)}, "inline/8.json: the bundle is larger"},
		"an object only": {[]json.RawMessage{json.RawMessage(`[]`)}, "none of the files"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := FromManifests(tc.manifests)
			wantError(t, err, "load bundle from inline manifests", tc.want)
		})
	}
}
