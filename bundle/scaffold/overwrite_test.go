package scaffold

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestNothingIsOverwritten finds files that say something else: they are an error, or replaced if that is asked for.
func TestNothingIsOverwritten(t *testing.T) {
	tests := map[string]struct {
		file string
		with func(*Request)
		want string // of the error
	}{
		"a Dockerfile":                 {"bundle.Dockerfile", func(*Request) {}, "bundle.Dockerfile is there already, and says something else"},
		"a Dockerfile, replaced":       {"bundle.Dockerfile", func(r *Request) { r.Replace = true }, ""},
		"a Dockerfile, overwritten":    {"bundle.Dockerfile", func(r *Request) { r.Overwrite = true }, ""},
		"a copy of a manifest":         {"out/manifests/csv.yaml", func(*Request) {}, "csv.yaml is there already, and says something else"},
		"a copy, replaced":             {"out/manifests/csv.yaml", func(r *Request) { r.Replace = true }, ""},
		"annotations are not replaced": {"out/metadata/annotations.yaml", func(r *Request) { r.Replace = true }, "Expect field"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, map[string]string{"manifests/csv.yaml": csvText, tc.file: "annotations: {" + annotationKeys[3] + ": other}"})
			r := request(dir)
			r.OutputDir = filepath.Join(dir, "out")
			tc.with(&r)
			p, err := Make(t.Context(), r)
			if tc.want != "" {
				must.Fail(t, "Make", err, tc.want)
				return
			}
			if err != nil || written(t, dir, p)[tc.file] == "" {
				t.Errorf("%s is not replaced: %v", tc.file, err)
			}
		})
	}
}

// TestLinksAreNotFollowed has links where files go.
func TestLinksAreNotFollowed(t *testing.T) {
	for _, name := range []string{"metadata/annotations.yaml", "bundle.Dockerfile"} {
		t.Run(name, func(t *testing.T) {
			dir := workDir(t, map[string]string{"manifests/csv.yaml": csvText, "metadata/x": ""})
			victim := filepath.Join(t.TempDir(), "victim")
			must.NoError(t, os.WriteFile(victim, []byte("secret"), 0o600))
			must.NoError(t, os.Symlink(victim, filepath.Join(dir, name)))
			r := request(dir)
			r.Overwrite = true
			_, err := Make(t.Context(), r)
			must.Fail(t, "Make", err, "is no regular file; remove it")
		})
	}
}

func TestPathsWithBlanks(t *testing.T) {
	dir := workDir(t, map[string]string{"my bundle/manifests/csv.yaml": csvText})
	r := request(dir)
	r.Manifests, r.Channels = filepath.Join(dir, "my bundle", "manifests"), []string{"stable", " 4.10 "}
	p := must.Value(Make(t.Context(), r))(t)
	text := written(t, dir, p)["bundle.Dockerfile"]
	for _, want := range []string{`COPY ["my bundle/manifests","/manifests/"]` + "\n", "channels.v1=stable,4.10\n"} {
		must.Contain(t, "text", text, want)
	}
}
