package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
)

const systemUninstallHelp = `Remove the manager that 'fairlead system install' has installed. First everything is listed that goes, and what stays and why; then it is asked.

Operators run on by themselves, and keep their rights, webhooks and custom resources. The CustomResourceDefinitions of both APIs stay, with all Subscriptions,
ClusterExtensions and the rest, and so do namespaces: a manager that is installed again continues with them.

With --delete-crds everything goes: first the operators, while the manager runs and takes down what belongs to them, then the manager, then the definitions. Where no
manager runs this is refused as long as there are operators.

Exit code 0: it is removed, or --dry-run has shown it. 3: nothing was removed, because it was refused, or you did not say yes. 1: something went wrong; the same command
continues from there. 2: wrong usage.`

func newSystemUninstallCommand(s command.Streams) *cobra.Command {
	change := command.Change{Streams: s}
	var k kubeconfig.Flags
	var namespace string
	var deleteCRDs bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the manager from a cluster, and leave operators as they are",
		Long:  systemUninstallHelp,
		Example: `  fairlead system uninstall --dry-run
  fairlead system uninstall --delete-crds`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := change.Check(); err != nil {
				return err
			}
			c, _, err := k.Connect()
			if err != nil {
				return err
			}
			found, err := ops.UninstallSystem(cmd.Context(), c, namespace, deleteCRDs)
			if err != nil {
				return refusal(err)
			}
			if err := change.Output.Write(s.Out, found, found.Write); err != nil || change.DryRun {
				return err
			}
			question := "Remove the manager?"
			if deleteCRDs {
				question = "Remove the manager, all operators and everything that they manage?"
			}
			if err := change.Ask(question, "Nothing was removed."); err != nil {
				return err
			}
			return removeSystem(cmd.Context(), &change, found, timeout)
		},
	}
	k.AddCluster(cmd.Flags())
	change.Flags(cmd, "only show what goes and what stays")
	flags := cmd.Flags()
	flags.StringVar(&namespace, "manager-namespace", manager.DefaultGlobalNamespace, "namespace of the manager")
	flags.BoolVar(&deleteCRDs, "delete-crds", false, "remove all operators and the CustomResourceDefinitions of both APIs, with all their objects, too")
	flags.DurationVar(&timeout, "timeout", systemTimeout, "how long to wait until all of it is gone")
	return cmd
}

// removeSystem removes what was shown, and says what it does.
func removeSystem(ctx context.Context, change *command.Change, found *ops.SystemRemoval, timeout time.Duration) error {
	printer := change.Output.Progress(change.Streams)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := found.Run(ctx, func(what string) { printer.Done("%s", what) }, once(printer)); err != nil {
		printer.Forget()
		return refusal(fmt.Errorf("remove the manager: %w\nWhat was removed is listed above. The same command continues from there", err))
	}
	printer.Done("the manager is removed")
	return nil
}
