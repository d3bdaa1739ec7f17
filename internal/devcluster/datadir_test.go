package devcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestForeignDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("years of work"), 0o600))
	_, err := Start(t.Context(), Options{DataDir: dir, Executable: "unused", Throwaway: true})
	must.Fail(t, "Start", err, "is not empty and not the data directory of a cluster")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v now, %v", entries, err)
	}
}

func TestReuse(t *testing.T) {
	const port = 12345
	tests := map[string]struct {
		previous  *record
		throwaway bool
		port      int
		kept      bool
		want      string
	}{
		"a new directory":               {nil, false, 0, true, ""},
		"a new throwaway":               {nil, true, 0, true, ""},
		"a cluster that was kept":       {&record{APIPort: port}, false, port, true, ""},
		"a killed throwaway":            {&record{APIPort: port, Throwaway: true}, true, 0, false, ""},
		"a killed throwaway, then kept": {&record{APIPort: port, Throwaway: true}, false, 0, false, ""},
		"a kept one is not thrown away": {&record{APIPort: port}, true, port, true, "is to be kept"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := dataDir(filepath.Join(t.TempDir(), "data"))
			must.NoError(t, dir.create())
			if test.previous != nil {
				must.NoError(t, dir.writeRecord(*test.previous))
			}
			content := dir.path("etcd", "member")
			must.NoError(t, os.MkdirAll(content, 0o700))
			previous, err := dir.reuse(test.throwaway)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			must.Equal(t, "port", previous.APIPort, test.port)
			if _, err := os.Stat(content); (err == nil) != test.kept {
				t.Errorf("content: %v, kept should be %t", err, test.kept)
			}
			modes(t, dir.path())
		})
	}
}

func TestRecordOfAnotherKindOfFile(t *testing.T) {
	dir := dataDir(t.TempDir())
	must.NoError(t, os.WriteFile(dir.path(stateFile), []byte("{"), 0o600))
	_, err := dir.reuse(false)
	must.Fail(t, "dir.reuse", err, dir.path(stateFile))
}
