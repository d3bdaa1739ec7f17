package devcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestOptions(t *testing.T) {
	tests := map[string]struct {
		options Options
		want    string
	}{
		"a bad name":          {Options{Name: "../x", Executable: "x"}, `cluster name "../x"`},
		"a long name":         {Options{Name: strings.Repeat("x", 43), Executable: "x"}, "up to 42"},
		"negative nodes":      {Options{Nodes: -1, Executable: "x"}, "from 1 to 200"},
		"too many nodes":      {Options{Nodes: 201, Executable: "x"}, "from 1 to 200"},
		"several real nodes":  {Options{RealNode: true, Nodes: 2, Executable: "x"}, "a real node is this machine"},
		"no control plane":    {Options{}, "does not contain the control plane"},
		"nothing is required": {Options{Executable: "x"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := test.options.complete()
			if test.want != "" {
				must.Fail(t, "test.options.complete", err, test.want)
				return
			}
			must.NoError(t, err)
			if got.Name != "default" || got.Nodes != 1 || !strings.HasSuffix(got.DataDir, filepath.Join("fairlead", "clusters", "default")) {
				t.Errorf("defaults are %+v", got)
			}
		})
	}
}

func TestSocketsOfDeepDirectories(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	short := dataDir("/somewhere/short")
	if got, err := short.sockets(); err != nil || got != string(short) {
		t.Errorf("sockets of %s are in %s, %v", short, got, err)
	}
	deep := dataDir("/" + strings.Repeat("deep/", 30))
	got := must.Value(deep.sockets())(t)
	if again, err := deep.sockets(); err != nil || again != got {
		t.Errorf("the second time they are in %s, %v, the first in %s", again, err, got)
	}
	if other, err := (deep + "er").sockets(); err != nil || other == got {
		t.Errorf("another data directory has the same: %s, %v", other, err)
	}
	modes(t, got)
	must.NoError(t, os.Chmod(got, 0o755))
	_, err := deep.sockets()
	must.Fail(t, "deep.sockets", err, "open to others")
}
