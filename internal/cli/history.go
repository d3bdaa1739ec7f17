package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

func newHistoryCommand(s command.Streams) *cobra.Command {
	var t target
	var format command.Output
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "List the revisions of a ClusterExtension, or the InstallPlans of a Subscription, that are kept",
		Long: `List the revisions of a ClusterExtension that are kept, the newest first. Each holds all its objects, so that fairlead rollback can
return to it.

Or NAME is a Subscription of the namespace: its InstallPlans are listed, with what each installed, from which catalog, who approved it, and what
became of it. The v0 API keeps no objects of earlier versions, so there is no way back to them. A name that both have is the ClusterExtension, unless
--api v0 says otherwise.`,
		Example: `  fairlead history my-extension
  fairlead history etcd -n operators`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(t.check(), format.Check()); err != nil {
				return err
			}
			c, namespace, err := t.cluster.Connect()
			if err != nil {
				return err
			}
			return kubeconfig.Explain(writeHistory(cmd.Context(), s, c, format, t.api, client.ObjectKey{Namespace: namespace, Name: args[0]}))
		},
	}
	t.flags(cmd)
	format.Flag(cmd)
	return cmd
}

// writeHistory prints the history of a ClusterExtension, or of a Subscription.
func writeHistory(ctx context.Context, s command.Streams, c client.Client, format command.Output, api string, key client.ObjectKey) error {
	is, err := isSubscription(ctx, c, api, key)
	if err != nil {
		return err
	}
	if is {
		h, err := ops.ReadSubscriptionHistory(ctx, c, key)
		if err != nil {
			return err
		}
		return format.Write(s.Out, h, h.Write)
	}
	h, err := ops.ReadHistory(ctx, c, key.Name)
	if err != nil {
		return err
	}
	return format.Write(s.Out, h, h.Write)
}

// rollback is `fairlead rollback`: what its flags say.
type rollback struct {
	command.Change
	to   int64
	wait time.Duration
}

const rollbackHelp = `Go back to an earlier revision of a ClusterExtension: its objects are applied again as they were, whatever the catalogs have by then.

Before anything is written it is proven that nothing is lost: no CustomResourceDefinition may lose a version that custom resources are
stored in, none that would be deleted may have custom resources, and where a schema becomes narrower all custom resources are checked. What
is in the way is listed, and then nothing is done.

Of a Subscription there is no way back: it is said what works instead.

The ClusterExtension stays at that revision, and its version is pinned, until fairlead upgrade says otherwise.

Exit code 0: it was rolled back, or --dry-run found nothing in the way. 3: something is in the way, or you did not say yes. 1: something went
wrong. 2: wrong usage.`

func newRollbackCommand(s command.Streams) *cobra.Command {
	r := rollback{Change: command.Change{Streams: s}}
	var t target
	cmd := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to an earlier revision of a ClusterExtension, if nothing is lost",
		Long:  rollbackHelp,
		Example: `  fairlead history etcd
  fairlead rollback etcd --to 3 --dry-run`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to") && r.to < 1 {
				return command.UsageError{Err: fmt.Errorf("--to %d: revisions count from 1; fairlead history lists them", r.to)}
			}
			if err := errors.Join(t.check(), r.Check()); err != nil {
				return err
			}
			c, namespace, err := t.cluster.Connect()
			if err != nil {
				return err
			}
			key := client.ObjectKey{Namespace: namespace, Name: args[0]}
			is, err := isSubscription(cmd.Context(), c, t.api, key)
			if err == nil && is {
				err = noWayBack(cmd.Context(), c, key)
			}
			if err != nil {
				return kubeconfig.Explain(err)
			}
			return r.run(cmd.Context(), c, args[0])
		},
	}
	t.flags(cmd)
	r.Flags(cmd, "only show what would change, and what prevents it")
	flags := cmd.Flags()
	flags.Int64Var(&r.to, "to", 0, "revision to go back to (default: the newest one before with another version)")
	flags.DurationVar(&r.wait, "wait", 5*time.Minute, "how long to wait until it is rolled back; 0 not at all")
	return cmd
}

func (r *rollback) run(ctx context.Context, c client.Client, name string) error {
	h, err := ops.ReadHistory(ctx, c, name)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	back, err := h.Judge(ctx, c, r.to)
	if err != nil {
		return err
	}
	if err := r.Output.Write(r.Out, back, back.Write); err != nil {
		return err
	}
	if len(back.Blocked) > 0 {
		fmt.Fprintf(r.Err, "ClusterExtension %s stays at revision %d: custom resources would be lost or become unusable, see above.\n", name, back.From.Number)
		return command.ExitError{Code: command.ExitNo}
	}
	if r.DryRun {
		return nil
	}
	if err := r.Ask(fmt.Sprintf("Go back to revision %d?", back.To.Number), "Nothing was changed."); err != nil {
		return err
	}
	if err := back.Apply(ctx, c); err != nil {
		return err
	}
	printer := r.Output.Progress(r.Streams)
	printer.Done("requested a rollback of ClusterExtension %s to revision %d", name, back.To.Number)
	if r.wait == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	e, err := ops.WaitExtension(ctx, c, name, func(_, message string) { printer.Waiting(message) })
	if err != nil {
		printer.Forget()
		return fmt.Errorf("%w\nThe manager continues as soon as the cause is gone. To stay at what was: fairlead upgrade %s", err, name)
	}
	if e.Status.Install != nil {
		printer.Done("%s is installed again and works", e.Status.Install.Bundle.Name)
	}
	return nil
}
