package scaffold

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestPackageFromFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	text := file("README.md", "A sound operator.")
	icon := file("icon.svg", "<svg/>")
	endless := file("endless.md", strings.Repeat("x", maxDescription+1))
	tests := map[string]struct {
		name, description, icon string
		wantErr                 string
	}{
		"all of it":             {name: "sound", description: text, icon: icon},
		"a name only":           {name: "sound"},
		"no such description":   {name: "sound", description: filepath.Join(dir, "none"), wantErr: "read its description"},
		"no such icon":          {name: "sound", icon: filepath.Join(dir, "none"), wantErr: "read its icon"},
		"a description too big": {name: "sound", description: endless, wantErr: "has more than 1048576 bytes"},
		"an icon that is text":  {name: "sound", icon: text, wantErr: "not an image"},
		"a bad name":            {name: "So.und", wantErr: `make package "So.und"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := PackageFromFiles(test.name, "stable", test.description, test.icon)
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want one that says %q", err, test.wantErr)
				}
				return
			}
			must.NoError(t, err)
			if p.Name != test.name || p.DefaultChannel != "stable" || (p.Description != "") != (test.description != "") || (p.Icon != nil) != (test.icon != "") {
				t.Errorf("made %+v", p)
			}
		})
	}
}
