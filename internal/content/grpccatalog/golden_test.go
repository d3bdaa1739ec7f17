package grpccatalog

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files anew")

// given is the form of settings.yaml.
type given struct {
	Settings
	Observed
}

func defaults() given {
	return given{Settings: Settings{
		OpmImage: "registry.example.com/opm:v1", UtilImage: "registry.example.com/util:v1",
	}}
}

// TestWanted makes the objects of the CatalogSource of each archive. The companions are compared where the comment speaks of them.
func TestWanted(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 27 {
		t.Fatalf("found %d archives in testdata (%v)", len(archives), err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive := must.Value(txtar.ParseFile(name))(t)
			source, in, input := readInput(t, archive)
			got := outcomeOf(t, source, in, bytes.Contains(archive.Comment, []byte("companions")))
			if *update {
				archive.Files = append(input, got...)
				must.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
				return
			}
			must.Equal(t, "result", texts(got), texts(archive.Files[len(input):]))
		})
	}
}

func readInput(t *testing.T, archive *txtar.Archive) (*v1alpha1.CatalogSource, given, []txtar.File) {
	t.Helper()
	source, in := &v1alpha1.CatalogSource{}, defaults()
	var input []txtar.File
	for _, f := range archive.Files {
		var into any
		switch f.Name {
		case "catalogsource.yaml":
			into = source
		case "settings.yaml":
			into = &in
		default:
			continue
		}
		must.NoErrorf(t, yaml.UnmarshalStrict(f.Data, into), "%s", f.Name)
		input = append(input, f)
	}
	return source, in, input
}

func outcomeOf(t *testing.T, source *v1alpha1.CatalogSource, in given, companions bool) []txtar.File {
	t.Helper()
	before := source.DeepCopy()
	objects, err := Wanted(source, in.Settings, in.Observed)
	must.Equal(t, "the CatalogSource was changed", source, before)
	if err != nil {
		return []txtar.File{{Name: "error.txt", Data: []byte(err.Error() + "\n")}}
	}
	files := []txtar.File{{Name: "pod.yaml", Data: asYAML(t, objects.Pod)}}
	if companions {
		var all [][]byte
		for _, o := range objects.companions() {
			all = append(all, asYAML(t, o))
		}
		files = append(files, txtar.File{Name: "companions.yaml", Data: bytes.Join(all, []byte("---\n"))})
	}
	return files
}

func asYAML(t *testing.T, o client.Object) []byte {
	t.Helper()
	text := must.Value(yaml.Marshal(o))(t)
	return text
}

func texts(files []txtar.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		out[f.Name] = string(f.Data)
	}
	return out
}
