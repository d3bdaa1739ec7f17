package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

const (
	csvText     = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: op.v1.0.0}\nspec: {version: 1.0.0}\n"
	packageText = "packageName: op\nchannels:\n- {name: stable, currentCSV: op.v1.0.0}\n- {name: beta, currentCSV: op.v1.0.0}\n- {name: old, currentCSV: op.v0.9.0}\ndefaultChannel: stable\n"
)

// workDir makes a directory with files.
func workDir(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	must.NoError(t, os.CopyFS(dir, tree))
	return dir
}

func request(dir string) Request {
	return Request{Manifests: filepath.Join(dir, "manifests"), Package: "op", Channels: []string{"stable", "4.10"}, DefaultChannel: "4.10", WorkingDir: dir}
}

// written are the files of a plan by path below dir.
func written(t *testing.T, dir string, p *Plan) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range p.Files {
		name := must.Value(filepath.Rel(dir, f.Path))(t)
		out[filepath.ToSlash(name)] = string(f.Data)
	}
	return out
}

func TestGenerate(t *testing.T) {
	dir := workDir(t, map[string]string{"manifests/csv.yaml": csvText})
	p := must.Value(Make(t.Context(), request(dir)))(t)
	want := map[string]string{
		"metadata/annotations.yaml": `annotations:
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: op
  operators.operatorframework.io.bundle.channels.v1: stable,4.10
  operators.operatorframework.io.bundle.channel.default.v1: "4.10"
`,
		"bundle.Dockerfile": `FROM scratch

LABEL operators.operatorframework.io.bundle.mediatype.v1=registry+v1
LABEL operators.operatorframework.io.bundle.manifests.v1=manifests/
LABEL operators.operatorframework.io.bundle.metadata.v1=metadata/
LABEL operators.operatorframework.io.bundle.package.v1=op
LABEL operators.operatorframework.io.bundle.channels.v1=stable,4.10
LABEL operators.operatorframework.io.bundle.channel.default.v1=4.10

COPY manifests /manifests/
COPY metadata /metadata/
`,
	}
	must.Equal(t, "written", written(t, dir, p), want)
	must.NoError(t, p.Write())
	again, err := Make(t.Context(), request(dir))
	if err != nil || len(again.Files) != 0 {
		t.Errorf("what is there is written again: %v, %v", again, err)
	}
	b, err := bundle.Load(os.DirFS(dir))
	if err != nil || b.Package != "op" || b.DefaultChannel != "4.10" {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestGenerateElsewhere(t *testing.T) {
	dir := workDir(t, map[string]string{"deploy/csv.yaml": csvText, "metadata/annotations.yaml": "annotations: {x: y}"})
	r := request(dir)
	r.Manifests, r.OutputDir, r.BaseImage = filepath.Join(dir, "deploy"), filepath.Join(dir, "out"), "example.com/base"
	p := must.Value(Make(t.Context(), r))(t)
	got := written(t, dir, p)
	if got["out/manifests/csv.yaml"] != csvText || got["out/metadata/annotations.yaml"] == "" || len(got) != 3 {
		t.Errorf("got %v", got)
	}
	if text := got["bundle.Dockerfile"]; !strings.HasPrefix(text, "FROM example.com/base\n") || !strings.HasSuffix(text, "COPY out/manifests /manifests/\nCOPY out/metadata /metadata/\n") {
		t.Errorf("Dockerfile:\n%s", text)
	}
}

func TestImage(t *testing.T) {
	dir := workDir(t, map[string]string{
		"deploy/csv.yaml": csvText, "metadata/dependencies.yaml": "dependencies: []", "metadata/own.yaml": "annotations: {x: y}",
	})
	r := request(dir)
	r.Manifests, r.Overwrite = filepath.Join(dir, "deploy"), true
	p := must.Value(Make(t.Context(), r))(t)
	files, labels := p.Image()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	must.Equal(t, "files", names, []string{"manifests/csv.yaml", "metadata/dependencies.yaml", "metadata/own.yaml"})
	must.Contain(t, "text", string(files["metadata/own.yaml"]), "  x: y\n", "package.v1: op")
	if len(labels) != 6 || labels[bundle.AnnotationPackage] != "op" || labels["x"] != "" {
		t.Errorf("labels %v", labels)
	}
}

func TestExistingAnnotations(t *testing.T) {
	const own = "annotations:\n  operators.operatorframework.io.bundle.package.v1: other\n  mine: kept\n"
	tests := map[string]struct {
		annotations string
		overwrite   bool
		want        string // of the error
	}{
		"another value":    {own, false, `Expect field "operators.operatorframework.io.bundle.package.v1" to have value "op" instead of "other"`},
		"missing fields":   {own, false, "Missing field: operators.operatorframework.io.bundle.mediatype.v1"},
		"overwritten":      {own, true, ""},
		"broken":           {"annotations: [", true, "annotations.yaml"},
		"another document": {"x: 1", true, "there is no key annotations"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, map[string]string{"manifests/csv.yaml": csvText, "metadata/annotations.yaml": tc.annotations})
			r := request(dir)
			r.Overwrite = tc.overwrite
			p, err := Make(t.Context(), r)
			if tc.want != "" {
				must.Fail(t, "Make", err, tc.want)
				return
			}
			if err != nil || p.Annotations["mine"] != "kept" || p.Annotations[bundle.AnnotationPackage] != "op" {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
}

func TestInfer(t *testing.T) {
	old := strings.ReplaceAll(csvText, "1.0.0", "0.9.0")
	dir := workDir(t, map[string]string{"op.package.yaml": packageText, "1.0.0/csv.yaml": csvText, "0.9.0/csv.yaml": old})
	p, err := Make(t.Context(), Request{Manifests: filepath.Join(dir, "1.0.0")})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{bundle.AnnotationPackage: "op", bundle.AnnotationChannels: "beta,stable", bundle.AnnotationDefaultChannel: "stable"} {
		must.Equal(t, key, p.Annotations[key], want)
	}
	p, err = Make(t.Context(), Request{Manifests: filepath.Join(dir, "1.0.0"), Channels: []string{"mine"}, DefaultChannel: "mine"})
	if err != nil || p.Annotations[bundle.AnnotationPackage] != "op" || p.Annotations[bundle.AnnotationChannels] != "mine" || p.Annotations[bundle.AnnotationDefaultChannel] != "mine" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestRefuses(t *testing.T) {
	inPackage := func(files map[string]string) map[string]string {
		files["op.package.yaml"], files["1.0.0/csv.yaml"] = packageText, csvText
		files["0.9.0/csv.yaml"] = strings.ReplaceAll(csvText, "1.0.0", "0.9.0")
		return files
	}
	tests := map[string]struct {
		files   map[string]string
		request Request
		want    string
		byHand  bool
	}{
		"no directory":           {nil, Request{Manifests: "none", Package: "p", Channels: []string{"c"}}, "there is no such directory", false},
		"a file":                 {map[string]string{"m": csvText}, Request{Manifests: "m", Package: "p", Channels: []string{"c"}}, "there is no such directory", false},
		"a name of no package":   {map[string]string{"m/csv.yaml": csvText}, Request{Manifests: "m", Package: "P q", Channels: []string{"c"}}, `cannot be called "P q"`, false},
		"no names of channels":   {map[string]string{"m/csv.yaml": csvText}, Request{Manifests: "m", Package: "p", Channels: []string{" ", ""}}, "the channels have no names", true},
		"a channel of two lines": {map[string]string{"m/csv.yaml": csvText}, Request{Manifests: "m", WorkingDir: ".", Package: "p", Channels: []string{"c\nRUN x"}}, "mean something else in a Dockerfile", false},
		"a default of two lines": {map[string]string{"m/csv.yaml": csvText}, Request{Manifests: "m", WorkingDir: ".", Package: "p", Channels: []string{"c"}, DefaultChannel: "c\nRUN x"}, "mean something else in a Dockerfile", false},
		"a base of two lines":    {map[string]string{"m/csv.yaml": csvText}, Request{Manifests: "m", WorkingDir: ".", Package: "p", Channels: []string{"c"}, BaseImage: "x\nRUN x"}, "the base image", false},
		"no YAML":                {map[string]string{"m/README.md": "x"}, Request{Manifests: "m", Package: "p", Channels: []string{"c"}}, "contains no yaml files", false},
		"nothing to infer from":  {map[string]string{"m/csv.yaml": csvText}, Request{Manifests: "m"}, "please manually input channels and packageName", true},
		"no CSV to infer by":     {inPackage(map[string]string{"m/x.yaml": "kind: Service\napiVersion: v1\nmetadata: {name: x}\n"}), Request{Manifests: "m"}, "no ClusterServiceVersion to infer them by", true},
		"in no channel":          {inPackage(map[string]string{"m/csv.yaml": strings.ReplaceAll(csvText, "1.0.0", "2.0.0")}), Request{Manifests: "m"}, "no channel below", true},
		"a Dockerfile elsewhere": {map[string]string{"m/csv.yaml": csvText, "work/x": ""}, Request{Manifests: "m", WorkingDir: "work", Package: "p", Channels: []string{"c"}}, "cannot copy", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, tc.files)
			tc.request.Manifests = filepath.Join(dir, tc.request.Manifests)
			if tc.request.WorkingDir != "" {
				tc.request.WorkingDir = filepath.Join(dir, tc.request.WorkingDir)
			}
			_, err := Make(t.Context(), tc.request)
			if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, errByHand) != tc.byHand {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func FuzzAnnotations(f *testing.F) {
	f.Add("operators.operatorframework.io.bundle.package.v1", "4.10")
	f.Add("a: b", "true\n- x")
	f.Add("\t\n", "--\x01")
	f.Add("a", "\n\t# x\n")
	f.Fuzz(func(t *testing.T, key, value string) {
		if !utf8.ValidString(key) || !utf8.ValidString(value) {
			return
		}
		want := map[string]string{key: value}
		text, err := annotationsYAML(want)
		if err != nil {
			return
		}
		got, err := bundle.ReadAnnotations(text)
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("written %q, read %q, %v:\n%s", want, got, err, text)
		}
	})
}
