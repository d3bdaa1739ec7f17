package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/authoring"
	"fairlead.dev/fairlead/internal/cli/command"
)

// Run runs a command line and returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := command.Streams{In: stdin, Out: stdout, Err: stderr}
	root := &cobra.Command{
		Use:               "fairlead",
		Short:             "Operator Lifecycle Manager for Kubernetes",
		Args:              command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	root.AddCommand(commands(s)...)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	code := command.Code(err)
	switch {
	case command.Silent(err):
	case code == command.ExitUsage:
		fmt.Fprintf(stderr, "fairlead: %v\nRun '%s --help' for usage.\n", err, cmd.CommandPath())
	default:
		fmt.Fprintf(stderr, "fairlead: %v\n", err)
	}
	return code
}

func commands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newApproveCommand(s),
		authoring.NewBundle(s),
		authoring.NewCatalog(s),
		newCheckCommand(s),
		newClusterCommand(s),
		newDemoCommand(s),
		newHistoryCommand(s),
		newInfoCommand(s),
		newInstallCommand(s),
		newListCommand(s),
		newManagerCommand(s),
		newMigrateCommand(s),
		newOutdatedCommand(s),
		newPlanCommand(s),
		newResolveCommand(s),
		newRollbackCommand(s),
		newSearchCommand(s),
		newStatusCommand(s),
		newTraceCommand(s),
		newUninstallCommand(s),
		newUpgradeCommand(s),
		New(s),
		newVersionCommand(s),
		newVersionsCommand(s),
		newWhyCommand(s),
		newWhyNotCommand(s),
	}
}
