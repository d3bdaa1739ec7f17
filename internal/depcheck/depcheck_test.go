package depcheck

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestImportDirections(t *testing.T) {
	files := sources(t)
	if len(files) < 20 {
		t.Fatalf("found only %d source files: the walk does not see the project", len(files))
	}
	for file, imports := range files {
		for _, imported := range imports {
			if complaint := check(path.Dir(file), imported); complaint != "" {
				t.Errorf("%s imports %s: %s", file, imported, complaint)
			}
		}
	}
}

// TestFewPackages: a new concept belongs into a package that is there; a package with one importer belongs into that.
func TestFewPackages(t *testing.T) {
	packages := map[string]bool{}
	for file := range sources(t) {
		if dir := path.Dir(file); strings.HasPrefix(dir, "internal/") {
			packages[dir] = true
		}
	}
	if len(packages) > maxInternal {
		t.Errorf("%d packages under internal, the most is %d", len(packages), maxInternal)
	}
}

// TestPublicPackages: who imports them from outside gets what they import as well, and nothing of that may be internal.
func TestPublicPackages(t *testing.T) {
	for file, imports := range sources(t) {
		public, _, _ := strings.Cut(file, "/")
		switch public {
		case "api", "bundle", "catalog", "resolve", "version":
			for _, imported := range imports {
				if strings.HasPrefix(imported, module+"internal/") {
					t.Errorf("%s is public and imports %s", file, imported)
				}
			}
		}
	}
}

// TestOneWayToApply: server-side apply has one home, which knows what it takes over from whom.
func TestOneWayToApply(t *testing.T) {
	exempt := map[string]string{
		"internal/manager/crds.go": "the definitions of the manager itself, before it has a cache",
	}
	all := sources(t)
	for file := range exempt {
		if all[file] == nil {
			t.Errorf("%s is exempt and does not exist", file)
		}
	}
	for file := range all {
		inside := strings.HasPrefix(file, "internal/") && !strings.HasPrefix(file, "internal/rollout/")
		if strings.HasSuffix(file, "_test.go") || !inside || exempt[file] != "" {
			continue
		}
		text := must.Value(os.ReadFile(filepath.Join("..", "..", file)))(t)
		for _, call := range []string{"client.ForceOwnership", "client.Apply,", "ApplyPatchType", "client.Apply(", "Client.Apply(", "writer.Apply(", "account.Apply("} {
			if strings.Contains(string(text), call) {
				t.Errorf("%s uses %s: have internal/rollout apply it", file, call)
			}
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	tests := map[string]struct {
		pkg, imported string
		refused       bool
	}{
		"a library may use a lower one":           {"catalog", module + "version", false},
		"a lower one not the library":             {"version", module + "catalog", true},
		"pure packages have no client":            {"internal/resolution", "sigs.k8s.io/controller-runtime/pkg/client", true},
		"controllers have one":                    {"internal/controller/subscription", "sigs.k8s.io/controller-runtime", false},
		"a v0 controller does not know v1":        {"internal/controller/clusterserviceversion", module + "api/olm/v1", true},
		"a v1 controller does not know v0":        {"internal/controller/clusterobjectset", module + "api/operators/v1alpha1", true},
		"nor what commands do":                    {"internal/controller/subscription", module + "internal/ops/preview", true},
		"controllers do not import each other":    {"internal/controller/subscription", module + "internal/controller/installplan", true},
		"what people ask for does neither":        {"internal/ops/preview", module + "internal/controller/clusterextension", true},
		"nor does a command":                      {"internal/cli/authoring", module + "internal/controller/clusterextension", true},
		"the manager does":                        {"internal/manager", module + "internal/controller/clusterextension", false},
		"a package may use its own sub-packages":  {"internal/controller/subscription", module + "internal/controller/subscription/sub", false},
		"the manager never uses the devcluster":   {"cmd/fairlead-manager", module + "internal/devcluster", true},
		"only components links kubernetes":        {"internal/devcluster", "k8s.io/kubernetes/cmd/kube-apiserver/app", true},
		"components does":                         {"internal/devcluster/components", "k8s.io/kubernetes/cmd/kube-apiserver/app", false},
		"only image talks to registries":          {"internal/controller/catalogsource", "go.podman.io/image/v5/docker", true},
		"a package that is not in the table":      {"internal/nobody", module + "version", true},
		"a name that only begins like an allowed": {"resolve", module + "versions", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := check(test.pkg, test.imported); (got != "") != test.refused {
				t.Errorf("check(%s, %s) = %q, refused should be %t", test.pkg, test.imported, got, test.refused)
			}
		})
	}
}

// check returns why a package may not import another, or "".
func check(pkg, imported string) string {
	var best rule
	for _, r := range rules {
		if within(pkg, r.pkg) && len(r.pkg) > len(best.pkg) {
			best = r
		}
	}
	r, ok := best, best.pkg != ""
	if !ok {
		return "package " + pkg + " is not in the table of internal/depcheck"
	}
	for prefix, owner := range reserved {
		if within(imported, prefix) && !within(pkg, owner) {
			return "only " + owner + " may"
		}
	}
	for _, prefix := range clients {
		if within(imported, prefix) && !r.client {
			return pkg + " knows no Kubernetes client"
		}
	}
	ours, is := strings.CutPrefix(imported, module)
	if !is || controllers(pkg, ours) == "" && (within(ours, r.pkg) || allowed(r, ours)) {
		return ""
	}
	if complaint := controllers(pkg, ours); complaint != "" {
		return complaint
	}
	return pkg + " may import only " + strings.Join(r.may, ", ")
}

// controllers refuses imports of a controller by others than internal/manager: what more than one needs is a library.
func controllers(pkg, ours string) string {
	const prefix = "internal/controller/"
	a, isA := strings.CutPrefix(pkg, prefix)
	b, isB := strings.CutPrefix(ours, prefix)
	switch {
	case !isB || within(pkg, "internal/manager"):
		return ""
	case !isA:
		return "only internal/manager imports controllers"
	case strings.Split(a, "/")[0] != strings.Split(b, "/")[0]:
		return "controllers never import each other"
	}
	return ""
}

func allowed(r rule, ours string) bool {
	for _, may := range r.may {
		if may == anything || within(ours, may) {
			return true
		}
	}
	return false
}

func within(pkg, parent string) bool {
	return pkg == parent || strings.HasPrefix(pkg, parent+"/")
}

// sources maps each non-test Go file of the project to its imports.
func sources(t *testing.T) map[string][]string {
	root := filepath.Join("..", "..")
	found := map[string][]string{}
	must.NoErrorf(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || name != "." && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		found[name] = nil
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[name] = append(found[name], imported)
		}
		return nil
	}), "walk the project")
	return found
}
