package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

// removal is `fairlead uninstall`: what its flags say.
type removal struct {
	streams command.Streams
	options ops.UninstallOptions
	yes     bool
	dryRun  bool
	timeout time.Duration
	output  command.Output
}

const uninstallHelp = `Remove an operator. First everything is listed that goes, and what stays and why, with the number of custom resources of each
CustomResourceDefinition; then it is asked.

NAME is a ClusterExtension; or a Subscription of the namespace, the package that it asks for, or a ClusterServiceVersion.

A CustomResourceDefinition goes when it has no custom resources and nobody else has or needs it. One with custom resources stays, they keep
working as far as they need no operator, and they are converted no more by a webhook that goes. --delete-crd names one that is to go all the
same: its custom resources are deleted first, while the operator still runs and can do what their finalizers stand for.

ClusterExtensions that the manager has installed for the needs of this one are listed by themselves: it removes them afterwards, but for those that
another one needs, or that have custom resources.

Exit code 0: it is removed, or --dry-run has shown it. 3: nothing was removed, because you did not say yes. 1: something went wrong; the
error names the command that goes on where it stopped: a Subscription is gone by then, and its ClusterServiceVersion is named. 2: wrong usage.`

func newUninstallCommand(s command.Streams) *cobra.Command {
	r := removal{streams: s}
	var t target
	cmd := &cobra.Command{
		Use:   "uninstall NAME",
		Short: "Remove an operator, after showing what goes and what stays",
		Long:  uninstallHelp,
		Example: `  fairlead uninstall etcd -n operators --dry-run
  fairlead uninstall etcd -n operators --delete-crd etcdclusters.etcd.database.coreos.com`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(&t); err != nil {
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
	r.output.Flag(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&r.options.DeleteCRDs, "delete-crd", nil, "CustomResourceDefinition that goes with all its custom resources (may be repeated)")
	flags.BoolVar(&r.options.KeepCRDs, "keep-crds", false, "keep the CustomResourceDefinitions that have no custom resources, too")
	flags.BoolVarP(&r.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&r.dryRun, "dry-run", false, "only show what goes and what stays")
	flags.DurationVar(&r.timeout, "timeout", 5*time.Minute, "how long to wait until all of it is gone")
	return cmd
}

func (r *removal) check(t *target) error {
	if r.output != command.OutputText && !r.yes && !r.dryRun {
		return command.UsageError{Err: fmt.Errorf("-o %s is for programs, which cannot be asked: add --dry-run or --yes", r.output)}
	}
	if err := t.check(); err != nil {
		return err
	}
	return r.output.Check()
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
	if err := r.output.Write(r.streams.Out, found, found.Write); err != nil || r.dryRun {
		return err
	}
	if !r.yes && !confirmed(r.streams, fmt.Sprintf("\nRemove %s? [y/N] ", found.Operator)) {
		fmt.Fprintln(r.streams.Err, "Nothing was removed. To do it without being asked, add --yes.")
		return command.ExitError{Code: command.ExitNo}
	}
	printer := progressOf(r.streams, r.output)
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if err := found.Run(ctx, c, func(what string) { printer.Done("%s", what) }); err != nil {
		return fmt.Errorf("uninstall %s: %w\nWhat was removed is listed above. To go on from there, as long as it is there: fairlead uninstall %s, with the same flags", found.Operator, err, found.Again())
	}
	printer.Done("%s is removed", found.Operator)
	return nil
}

// progressOf prints progress where it is in nobody's way: what programs read stays what it is.
func progressOf(s command.Streams, o command.Output) *command.ProgressPrinter {
	if o != command.OutputText {
		return command.Progress(s.Err)
	}
	return command.Progress(s.Out)
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 100

// confirmed asks, and tells whether the answer is yes. No answer is no.
func confirmed(s command.Streams, question string) bool {
	fmt.Fprint(s.Out, question)
	if s.In == nil {
		return false
	}
	line, _ := bufio.NewReader(io.LimitReader(s.In, maxAnswer)).ReadString('\n') // what was said before the end counts
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
