package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/authoring"
	"fairlead.dev/fairlead/internal/cli/command"
)

// Run runs a command line and returns the exit code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root, s := newRoot(stdin, stdout, stderr)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	code := command.Code(err)
	switch {
	case command.Silent(err):
	case code == command.ExitUsage:
		fmt.Fprintf(s.Err, "fairlead: %v\nRun '%s --help' for usage.\n", err, cmd.CommandPath())
	default:
		fmt.Fprintf(s.Err, "fairlead: %v\n", err)
	}
	return code
}

// newRoot is the tree of commands.
func newRoot(stdin io.Reader, stdout, stderr io.Writer) (*cobra.Command, command.Streams) {
	look := command.NewLook(os.Getenv)
	s := command.Streams{In: stdin, Out: look.Results(stdout), Err: look.Messages(stderr)}
	root := &cobra.Command{
		Use:           "fairlead",
		Short:         "Operator Lifecycle Manager for Kubernetes",
		Args:          command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       built().String(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	for _, g := range groups(s) {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newVersionCommand(s), newReferenceCommand(s))
	command.Connection(root)
	look.Flag(root)
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return look.Check() }
	complete(root, root)
	root.SetHelpFunc(command.FoldedHelp(root.HelpFunc()))
	return root, s
}

// group are commands that help lists together.
type group struct {
	id, title string
	commands  []*cobra.Command
}

func groups(s command.Streams) []group {
	return []group{
		{"look", "See what there is, and why:", []*cobra.Command{
			newStatusCommand(s), newListCommand(s), newWhyCommand(s), newWhyNotCommand(s), newOutdatedCommand(s), newPlanCommand(s), newResolveCommand(s),
			newHistoryCommand(s), newOperandsCommand(s), newTraceCommand(s), newSearchCommand(s), newInfoCommand(s), newVersionsCommand(s), newCheckCommand(s), New(s), newDoctorCommand(s), newMustGatherCommand(s)}},
		{"change", "Install and change operators:", []*cobra.Command{
			newInstallCommand(s), newUpgradeCommand(s), newApproveCommand(s), newHoldCommand(s), newUnholdCommand(s), newRollbackCommand(s), newUninstallCommand(s), newMigrateCommand(s)}},
		{"author", "Write catalogs and bundles:", []*cobra.Command{newCatalogCommand(s), authoring.NewBundle(s)}},
		{"run", "Run the manager, and clusters to try it on:", []*cobra.Command{newConsoleCommand(s), newDemoCommand(s), newManagerCommand(s), newSystemCommand(s), newClusterCommand(s)}},
	}
}
