package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// program is the root of the commands whose complaints about arguments are our own. Those of opm are what scripts know of it.
const program = "fairlead"

// explainArguments says which argument is missing, or too much, as the usage line of the command names it.
func explainArguments(cmd *cobra.Command, values []string, err error) error {
	if cmd.Root().Name() != program || cmd.HasSubCommands() {
		return err
	}
	words, _, _ := strings.Cut(cmd.Use, " | ")
	named := strings.Fields(words)[1:]
	if i := slices.IndexFunc(named, func(word string) bool { return strings.HasPrefix(word, "-") }); i >= 0 { // flags
		named = named[:i]
	}
	usage := strings.Join(append([]string{cmd.CommandPath()}, named...), " ")
	required := slices.DeleteFunc(slices.Clone(named), func(word string) bool { return strings.HasPrefix(word, "[") })
	switch {
	case len(values) < len(required):
		return fmt.Errorf("%s is missing: %s", strings.TrimSuffix(required[len(values)], "..."), usage)
	case len(named) == 0 && len(values) > 0:
		return fmt.Errorf("%q: %s takes no argument", values[0], usage)
	case len(values) > len(named) && !strings.Contains(words, "..."):
		return fmt.Errorf("%q is one argument too many: %s", values[len(named)], usage)
	}
	return err
}
