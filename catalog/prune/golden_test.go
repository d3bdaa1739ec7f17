package prune

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"
)

// TestGolden prunes the catalog of each archive with the options of each file
// "options…", and compares the report, the channels and the deprecations that
// are left.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/*.txtar", func(t *testing.T, archive *golden.Archive) {
		fsys := fstest.MapFS{}
		inputs := archive.Without("want")
		for _, f := range inputs {
			if !strings.HasPrefix(f.Name, "options") {
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
			}
		}
		c := must.Value(catalog.Load(context.Background(), fsys, catalog.LoadOptions{}))(t)
		var files []txtar.File
		for _, f := range inputs {
			files = append(files, f)
			if name, ok := strings.CutPrefix(f.Name, "options"); ok {
				files = append(files, txtar.File{Name: "want" + name, Data: outcome(t, c, readOptions(t, string(f.Data)))})
			}
		}
		archive.Compare(t, files)
	})
}

// outcome is the report, and what is left apart from bundles.
func outcome(t *testing.T, c *catalog.Catalog, opts Options) []byte {
	t.Helper()
	pruned, report, err := Prune(c, opts)
	if err != nil {
		return []byte("error: " + err.Error() + "\n")
	}
	var out bytes.Buffer
	must.NoError(t, report.Write(&out))
	must.NoError(t, report.WriteImages(&out))
	pruned.Bundles = nil
	must.NoError(t, catalog.WriteYAML(&out, pruned))
	return out.Bytes()
}

// readOptions reads one option a line.
func readOptions(t *testing.T, text string) Options {
	t.Helper()
	o := Options{DefaultChannels: map[string]string{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch words[0] {
		case "package": // package NAME [heads] [channel NAME]... [versions RANGE]
			s := Selection{Package: words[1]}
			for i := 2; i < len(words); i++ {
				switch words[i] {
				case "heads":
					s.HeadsOnly = true
				case "channel":
					i++
					s.Channels = append(s.Channels, words[i])
				case "versions":
					var err error
					if s.Versions, err = version.ParseRange(strings.Join(words[i+1:], " ")); err != nil {
						t.Fatal(err)
					}
					i = len(words)
				}
			}
			o.Packages = append(o.Packages, s)
		case "installed":
			installed := must.Value(graph.ParseInstalled(words[1]))(t)
			o.Installed = append(o.Installed, installed)
		case "default":
			o.DefaultChannels[words[1]] = words[2]
		case "no-dependencies":
			o.WithoutDependencies = true
		default:
			t.Fatalf("unknown option %q", line)
		}
	}
	return o
}
