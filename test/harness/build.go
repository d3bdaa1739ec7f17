package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// buildCommand is how the Dockerfile builds the manager.
var buildCommand = regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=\d go build .*) -o /fairlead-manager (\./cmd/fairlead-manager) `)

// BuildManager builds the manager with the command of the Dockerfile, so that what is measured is what is shipped, and returns its path.
func BuildManager(tb testing.TB) string {
	tb.Helper()
	root, err := exec.CommandContext(tb.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	must.NoErrorf(tb, err, "find the module")
	dir := strings.TrimSpace(string(root))
	text := must.Value(os.ReadFile(filepath.Join(dir, "Dockerfile")))(tb)
	found := buildCommand.FindStringSubmatch(string(text))
	if found == nil {
		tb.Fatalf("the Dockerfile has no line like %s", buildCommand)
	}
	out := filepath.Join(tb.TempDir(), "fairlead-manager")
	build := exec.CommandContext(tb.Context(), "sh", "-c", found[1]+` -o "$0" `+found[2], out)
	build.Dir = dir
	if said, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build the manager: %v\n%s", err, said)
	}
	return out
}
