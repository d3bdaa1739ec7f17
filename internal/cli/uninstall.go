package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

// removal is `fairlead uninstall`: what its flags say.
type removal struct {
	command.Change
	options ops.UninstallOptions
	timeout time.Duration
}

const uninstallHelp = `Remove an operator. First everything is listed that goes, and what stays and why, with the number of custom resources of each
CustomResourceDefinition; then it is asked.

NAME is a ClusterExtension; or a Subscription of the namespace, the package that it asks for, or a ClusterServiceVersion.

A CustomResourceDefinition goes when it has no custom resources and no one else has or needs it. One with custom resources stays, they keep
working as far as they need no operator, and they are converted no more by a webhook that goes. --delete-crd names one that is to go all the
same: its custom resources are deleted first, while the operator still runs and can do what their finalizers stand for.

ClusterExtensions that the manager has installed for the needs of this one are listed by themselves: it removes them afterwards, but for those that
another one needs, or that have custom resources.

Exit code 0: it is removed, or --dry-run has shown it. 3: nothing was removed, because you did not say yes. 1: something went wrong; the
error names the command that continues where it stopped: a Subscription is gone by then, and its ClusterServiceVersion is named. 2: wrong usage.`

func newUninstallCommand(s command.Streams) *cobra.Command {
	r := removal{Change: command.Change{Streams: s}}
	var t target
	cmd := &cobra.Command{
		Use:   "uninstall NAME",
		Short: "Remove an operator, after showing what goes and what stays",
		Long:  uninstallHelp,
		Example: `  fairlead uninstall etcd -n operators --dry-run
  fairlead uninstall etcd -n operators --delete-crd etcdclusters.etcd.database.coreos.com`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(r.Check(), t.check()); err != nil {
				return err
			}
			c, namespace, api, err := t.connect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			r.options.Name, r.options.Namespace = args[0], namespace
			return r.run(cmd.Context(), c, api)
		},
	}
	t.flags(cmd)
	r.Flags(cmd, "only show what goes and what stays")
	flags := cmd.Flags()
	flags.StringSliceVar(&r.options.DeleteCRDs, "delete-crd", nil, "CustomResourceDefinition that goes with all its custom resources (may be repeated)")
	flags.BoolVar(&r.options.KeepCRDs, "keep-crds", false, "keep the CustomResourceDefinitions that have no custom resources, too")
	flags.DurationVar(&r.timeout, "timeout", 5*time.Minute, "how long to wait until all of it is gone")
	return cmd
}

func (r *removal) run(ctx context.Context, c client.Client, api string) error {
	find := ops.UninstallSubscription
	if api == apiV1 {
		find = ops.UninstallExtension
	}
	found, err := find(ctx, c, r.options)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	if err := r.Output.Write(r.Out, found, found.Write); err != nil || r.DryRun {
		return err
	}
	if err := r.Ask(fmt.Sprintf("Remove %s?", found.Operator), "Nothing was removed."); err != nil {
		return err
	}
	printer := r.Output.Progress(r.Streams)
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if err := found.Run(ctx, c, func(what string) { printer.Done("%s", what) }); err != nil {
		return fmt.Errorf("uninstall %s: %w\nWhat was removed is listed above. To go on from there, as long as it is there: fairlead uninstall %s, with the same flags", found.Operator, err, found.Again())
	}
	printer.Done("%s is removed", found.Operator)
	return nil
}
