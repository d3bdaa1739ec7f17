package scaffold

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

func TestPackage(t *testing.T) {
	tests := map[string]struct {
		name string
		icon string
		want string // media type, or what the error says
	}{
		"no icon":                  {"p", "", ""},
		"PNG":                      {"p", "\x89PNG\r\n\x1a\n", "image/png"},
		"JPEG":                     {"p", "\xff\xd8\xff", "image/jpeg"},
		"GIF":                      {"p", "GIF89a", "image/gif"},
		"SVG":                      {"p", "<svg/>", "image/svg+xml"},
		"SVG after a preamble":     {"p", "\ufeff<?xml version=\"1.0\" encoding=\"latin1\"?>\n<!DOCTYPE svg>\n<!-- x -->\n<svg:svg xmlns:svg=\"x\"/>", "image/svg+xml"},
		"another document":         {"p", "<html><svg/></html>", `detected invalid type "text/html": not an image`},
		"text about a picture":     {"p", "hello <svg/>", `detected invalid type "text/plain": not an image`},
		"too large":                {"p", "<svg>" + strings.Repeat(" ", maxIcon), "make it smaller"},
		"a name that is not valid": {"my.operator", "", "rename the package"},
		"no name":                  {"", "", "set name"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := Package(test.name, "stable", "text", []byte(test.icon))
			switch {
			case err != nil:
				if !strings.Contains(err.Error(), test.want) || test.want == "" {
					t.Errorf("error %v", err)
				}
			case p.Icon == nil:
				if test.want != "" {
					t.Errorf("there is no icon")
				}
			case p.Icon.MediaType != test.want || !bytes.Equal(p.Icon.Data, []byte(test.icon)):
				t.Errorf("icon %s, want %s", p.Icon.MediaType, test.want)
			}
		})
	}
	p, err := Package("p", "stable", "text", nil)
	want := catalog.Package{Schema: catalog.SchemaPackage, Name: "p", DefaultChannel: "stable", Description: "text"}
	if diff := cmp.Diff(want, p); diff != "" || err != nil {
		t.Errorf("package (-want +got):\n%s%v", diff, err)
	}
}

func TestDockerfile(t *testing.T) {
	text := must.Value(Dockerfile(Image{Dir: "catalog", Labels: map[string]string{"b": `a "$quote"`, "a": "1"}}))(t)
	want := `# The builder makes the cache of the catalog, so that the server need not.
FROM quay.io/operator-framework/opm:latest as builder

ADD catalog /configs
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM quay.io/operator-framework/opm:latest

ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]

COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache

# Where the catalog is in the image.
LABEL operators.operatorframework.io.index.configs.v1=/configs
LABEL "a"="1"
LABEL "b"="a \"\$quote\""
`
	must.Equal(t, "Dockerfile", text, want)
	bare, err := Dockerfile(Image{Dir: "c", Base: "scratch", Builder: "example.com/b:1"})
	if err != nil || strings.Contains(bare, "ENTRYPOINT") || !strings.Contains(bare, "FROM example.com/b:1 as builder") || !strings.Contains(bare, "FROM scratch\n# There is no program") {
		t.Errorf("error %v in:\n%s", err, bare)
	}
}

func TestDockerfileRefuses(t *testing.T) {
	tests := map[string]struct {
		image Image
		want  string
	}{
		"a builder without a program": {Image{Dir: "c", Builder: "scratch"}, `invalid builder image: "scratch"`},
		"no directory":                {Image{}, "has no name"},
		"a directory of two words":    {Image{Dir: "my catalog"}, `the directory "my catalog" has characters`},
		"another instruction":         {Image{Dir: "c", Base: "a\nRUN b"}, "the base image"},
		"a flag":                      {Image{Dir: "c", Builder: "--platform=x"}, "the builder image"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Dockerfile(test.image)
			must.Fail(t, "Dockerfile", err, test.want)
		})
	}
}

func TestWriteDockerfile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "catalog")
	must.NoError(t, os.Mkdir(dir, 0o755))
	name, err := WriteDockerfile(dir+"/.", Image{})
	if err != nil || name != dir+".Dockerfile" {
		t.Fatalf("%s, %v", name, err)
	}
	_, err = WriteDockerfile(dir, Image{})
	must.Fail(t, "WriteDockerfile", err, "there already")
	_, err = WriteDockerfile(name, Image{})
	must.Fail(t, "WriteDockerfile", err, "not a directory")
}

func TestParseLabels(t *testing.T) {
	labels, err := ParseLabels([]string{"a=1", "b=x=y", "a=2", "c="})
	if diff := cmp.Diff(map[string]string{"a": "2", "b": "x=y", "c": ""}, labels); diff != "" || err != nil {
		t.Errorf("labels (-want +got):\n%s%v", diff, err)
	}
	for _, wrong := range []string{"a", "=b", "a b=c"} {
		if _, err := ParseLabels([]string{wrong}); err == nil || !strings.Contains(err.Error(), "invalid label") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
