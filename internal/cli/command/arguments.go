package command

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
	"github.com/spf13/cobra"
)

// program is the root of the commands whose complaints about arguments are our own. Those of opm are what scripts know of it.
const program = "fairlead"

// explainArguments says which argument is missing, or too much, as the usage line of the command names it.
func explainArguments(cmd *cobra.Command, values []string, err error) error {
	if cmd.Root().Name() != program {
		return err
	}
	if cmd.HasSubCommands() {
		if len(values) == 0 {
			return err
		}
		return fmt.Errorf("%w%s", err, nearCommand(cmd, values[0]))
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

// nearCommand says which command may have been meant: one of that name elsewhere, as who comes from opm calls them, or one of nearly that name here.
// Empty is none.
func nearCommand(cmd *cobra.Command, word string) string {
	var near []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if below.IsAvailableCommand() && (below.Name() == word || below.HasAlias(word)) {
				near = append(near, below.CommandPath())
			}
			walk(below)
		}
	}
	walk(cmd.Root())
	if len(near) == 0 {
		var names []string
		for _, below := range cmd.Commands() {
			if below.IsAvailableCommand() {
				names = append(names, below.Name())
			}
		}
		return messages.DidYouMean(word, names)
	}
	return "; did you mean " + strings.Join(near, ", or ") + "?"
}
