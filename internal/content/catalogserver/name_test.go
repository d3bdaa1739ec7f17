package catalogserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestCatalogs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"mine", "With Space", "a=b"} {
		must.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	must.NoError(t, os.WriteFile("file", []byte("schema: x"), 0o644))
	origins := open(t, Options{})
	tests := map[string]struct {
		args []string
		want []string // name and origin
		err  string
	}{
		"a directory":                     {args: []string{"./mine"}, want: []string{"mine: directory ./mine"}},
		"with a name":                     {args: []string{"other=mine"}, want: []string{"other: directory mine"}},
		"an image with a tag":             {args: []string{"quay.io/example/catalog:latest"}, want: []string{"catalog: image quay.io/example/catalog:latest"}},
		"an image with a digest":          {args: []string{"localhost:5000/a/b@sha256:0"}, want: []string{"b: image localhost:5000/a/b@sha256:0"}},
		"an image with a name":            {args: []string{"x.y=localhost/a"}, want: []string{"x.y: image localhost/a"}},
		"both":                            {args: []string{"mine", "quay.io/example/catalog"}, want: []string{"mine: directory mine", "catalog: image quay.io/example/catalog"}},
		"a directory with an equals sign": {args: []string{"a=b"}, want: []string{"catalog: directory a=b"}},
		"the only one may have any name":  {args: []string{"With Space"}, want: []string{"catalog: directory With Space"}},
		"one of two may not":              {args: []string{"mine", "With Space"}, err: `write NAME=With Space with`},
		"nor may a name that was given":   {args: []string{"My=mine"}, err: `"My" cannot be its name`},
		"two with the same name":          {args: []string{"mine", "quay.io/example/mine:v1"}, err: `mine has the name "mine" too; write NAME=quay.io/example/mine:v1`},
		"a mistyped directory":            {args: []string{"mien"}, err: "there is no such directory"},
		"a mistyped path":                 {args: []string{"./mien/x"}, err: "there is no such directory"},
		"a mistyped path above":           {args: []string{"../mien/x"}, err: "there is no such directory"},
		"a file":                          {args: []string{"file"}, err: "it is not a directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			catalogs, err := origins.Catalogs(test.args)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			must.NoError(t, err)
			var got []string
			for _, c := range catalogs {
				got = append(got, c.Name+": "+c.Origin.String())
			}
			must.Equal(t, "catalogs", got, test.want)
		})
	}
}
