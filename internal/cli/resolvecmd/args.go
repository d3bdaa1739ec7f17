package resolvecmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// noArguments refuses arguments, and says that what is asked about is named with flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return command.UsageError{Err: fmt.Errorf("%s %q: it takes no argument; what it is about is named with flags, such as --namespace", cmd.Name(), args[0])}
}

// oneArgument wants one argument that a check accepts; what says how it is written.
func oneArgument(what string, check func(string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return command.UsageError{Err: fmt.Errorf("%s takes one argument, %s, and %d were given", cmd.Name(), what, len(args))}
		}
		if err := check(args[0]); err != nil {
			return command.UsageError{Err: fmt.Errorf("%s %q: %w; write %s", cmd.Name(), args[0], err, what)}
		}
		return nil
	}
}

// checkEntry accepts PACKAGE and PACKAGE@VERSION.
func checkEntry(text string) error {
	pkg, version, found := strings.Cut(text, "@")
	if err := preview.CheckPackage(pkg); err != nil || !found {
		return err
	}
	return preview.CheckVersion(version)
}
