package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
)

const approveHelp = `Approve what waits for a person, and wait until it is done.

NAME is a Subscription or an InstallPlan of the namespace: the plan that waits is approved, and fairlead plan show tells before what it does. What
the plan itself says would make it fail, or has to be known before, is printed as a note; --dry-run prints it without approving.
Or NAME is a ClusterExtension whose upgrade asks for more permissions than the installed version has: they are listed, and you are asked.

Exit code 3: you did not agree, so nothing was approved.`

// approval is `fairlead approve`: what its flags say.
type approval struct {
	command.Change
	wait time.Duration
}

func newApproveCommand(s command.Streams) *cobra.Command {
	a := approval{Change: command.Change{Streams: s}}
	var t target
	cmd := &cobra.Command{
		Use:   "approve NAME",
		Short: "Approve an InstallPlan that waits, or the permissions that an upgrade asks for",
		Long:  approveHelp,
		Example: `  fairlead approve etcd -n operators
  fairlead approve install-abcde -n operators --dry-run
  fairlead approve my-extension --yes`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(); err != nil {
				return err
			}
			c, namespace, api, err := t.connect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if api == apiV1 {
				return kubeconfig.Explain(a.permissions(cmd.Context(), c, args[0]))
			}
			return kubeconfig.Explain(a.plan(cmd.Context(), c, client.ObjectKey{Namespace: namespace, Name: args[0]}))
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVarP(&a.Yes, "yes", "y", false, "do not ask about permissions")
	cmd.Flags().BoolVar(&a.DryRun, "dry-run", false, "let the API server check the approval, and write nothing")
	cmd.Flags().DurationVar(&a.wait, "wait", 5*time.Minute, "how long to wait until it is done; 0 not at all")
	return cmd
}

// plan approves an InstallPlan.
func (a *approval) plan(ctx context.Context, c client.Client, key client.ObjectKey) error {
	waiting, err := ops.FindWaitingPlan(ctx, c, key)
	if err != nil {
		return err
	}
	if advice := waiting.Advice(); advice != "" { // it is approved all the same: that is what was asked for, and the advice may be out of date
		fmt.Fprintf(a.Err, "note: InstallPlan %s: %s\n", waiting.Plan.Name, messages.Clean(advice))
	}
	if err := waiting.Approve(ctx, c, a.DryRun); err != nil {
		return err
	}
	if a.DryRun {
		fmt.Fprintf(a.Out, "would approve %s\n", waiting.Describe())
		return nil
	}
	command.Progress(a.Out).Done("approved %s", waiting.Describe())
	if a.wait == 0 || waiting.Subscription == "" {
		return nil
	}
	return waitSubscription(ctx, a.Streams, c, client.ObjectKey{Namespace: key.Namespace, Name: waiting.Subscription}, a.wait)
}

// permissions approves those that an upgrade asks for.
func (a *approval) permissions(ctx context.Context, c client.Client, name string) error {
	digest, text, err := ops.WaitingPermissions(ctx, c, name)
	if err != nil {
		return err
	}
	asked, _, _ := strings.Cut(text, "\nto allow them")
	fmt.Fprintln(a.Out, asked)
	if !a.DryRun {
		if err := a.Ask(fmt.Sprintf("Allow ClusterExtension %s these permissions?", name), "Nothing was approved."); err != nil {
			return err
		}
	}
	change := ops.ExtensionChange{Acknowledge: &digest, DryRun: a.DryRun}
	if _, _, err := ops.ChangeExtension(ctx, c, name, change); err != nil {
		return err
	}
	if a.DryRun {
		fmt.Fprintf(a.Out, "would approve these permissions for ClusterExtension %s\n", name)
		return nil
	}
	command.Progress(a.Out).Done("approved these permissions for ClusterExtension %s", name)
	if a.wait == 0 {
		return nil
	}
	return waitExtension(ctx, a.Streams, c, name, a.wait)
}
