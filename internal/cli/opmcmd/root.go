package opmcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

// Called tells whether a program was started under the name opm.
func Called(argument0 string) bool {
	name := strings.ToLower(filepath.Base(argument0))
	return strings.TrimSuffix(name, ".exe") == "opm"
}

// Run runs a command line of opm and returns the exit code: 0, or 1 for any error.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(command.Streams{In: stdin, Out: stdout, Err: stderr})
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return command.ExitOK
	case command.Silent(err):
	case command.Code(err) == command.ExitUsage:
		fmt.Fprintf(stderr, "Error: %v\n%s", err, cmd.UsageString())
	default:
		fmt.Fprintf(stderr, "opm: %v\n", err)
	}
	return command.ExitFailed
}

func newRoot(s command.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "opm",
		Short:         "operator package manager",
		Long:          "CLI to write, check and serve catalogs of operators, by Fairlead.\n\n'fairlead catalog' and 'fairlead bundle' do the same and more.",
		Args:          command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	root.Flags().Bool("debug", false, "accepted and ignored: errors say all there is")
	hide(root.Flags(), "debug")
	access := &accessFlags{}
	access.add(root.PersistentFlags())
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return access.check() }
	root.AddCommand(commands(s, access)...)
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		root.AddCommand(goneCommand(name, "opm", gone[name]))
	}
	return root
}

func commands(s command.Streams, access *accessFlags) []*cobra.Command {
	return []*cobra.Command{
		newAlphaCommand(s, access),
		newGenerateCommand(s),
		newInitCommand(s),
		newMigrateCommand(s, access),
		newRenderCommand(s, access),
		newServeCommand(s, access),
		newValidateCommand(s),
		newVersionCommand(s),
	}
}

// showAlpha tells whether help shows commands and flags that may change.
func showAlpha() bool { return os.Getenv("HELP_ALPHA") == "true" }
