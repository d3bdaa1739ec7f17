package authoring

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/test/must"
)

// TestOpmPage compares the page about opm with the program: every command and flag has its row, with its default, and no other.
func TestOpmPage(t *testing.T) {
	page := must.Value(os.ReadFile(filepath.Join("..", "..", "..", "docs", "opm.md")))(t)
	var want, got []string
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[0], " `opm") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[3] == "" {
			t.Errorf("a row says nothing: %s", line)
		}
		got = append(got, strings.Join(cells[:3], " "))
	}
	walkCommands(newRoot(command.Streams{}), func(cmd *cobra.Command) { // Those of a command and its flags.
		out := []string{fmt.Sprintf("`%s`  ", cmd.CommandPath())}
		add := func(f *pflag.Flag) {
			name, value := "--"+f.Name, f.DefValue
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			if value != "" {
				value = "`" + value + "`"
			}
			out = append(out, fmt.Sprintf("`%s` `%s` %s", cmd.CommandPath(), name, value))
		}
		cmd.LocalFlags().VisitAll(add)
		want = append(want, out...)
	})
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-program +page):\n%s", diff)
	}
	for name := range maps.Keys(goneCommands) {
		if !strings.Contains(string(page), "`opm "+name+"`") {
			t.Errorf("the page does not say that opm %s is gone", name)
		}
	}
	for name := range maps.Keys(goneAlpha) {
		if !strings.Contains(string(page), "`opm alpha "+name+"`") {
			t.Errorf("the page does not say that opm alpha %s is gone", name)
		}
	}
}

// walkCommands calls see for all commands but those that are gone.
func walkCommands(cmd *cobra.Command, see func(*cobra.Command)) {
	see(cmd)
	for _, child := range cmd.Commands() {
		if !strings.HasPrefix(child.Short, "Gone: ") {
			walkCommands(child, see)
		}
	}
}
