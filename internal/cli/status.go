package cli

import (
	"context"
	"errors"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
)

func newStatusCommand(s command.Streams) *cobra.Command {
	var o overview
	cmd := &cobra.Command{
		Use:   "status [NAME...]",
		Short: "Show the state of the operators of a namespace, of both APIs, and the reason for what is not done",
		Long: `Show the state of the operators of a namespace: its OperatorGroup and catalogs, each Subscription with its InstallPlan, its
ClusterServiceVersion and Deployments, each ClusterExtension with its revisions and Deployments, and the reason for everything that is not
done yet, with the pods of Deployments that are not available and the last lines of their logs. With names only what has one of them is shown: of an
object, a package, or anything below it; and ClusterExtensions of these names, wherever they install. With -A the operators of all namespaces are shown.
` + overviewHelp,
		Example: `  fairlead status -n operators
  fairlead status etcd -A`,
		RunE: func(cmd *cobra.Command, names []string) error {
			k := &o.cluster
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			c, namespace, err := k.Connect()
			if err != nil {
				return err
			}
			config, err := k.Config()
			if err != nil {
				return err
			}
			logs, err := kubeconfig.Logs(config)
			if err != nil {
				return err
			}
			result, err := o.inspect(cmd.Context(), c, logs, namespace, names)
			if err != nil {
				return err
			}
			return o.answer(s, result)
		},
	}
	o.flags(cmd, "show the operators of all namespaces")
	return cmd
}

// inspect reads the state of a namespace, or of all, of what has some names, with the pods of what is not available.
func (o *overview) inspect(ctx context.Context, c client.Reader, logs ops.Logs, namespace string, names []string) (overviewed, error) {
	if o.all {
		survey, err := ops.InspectAll(ctx, c)
		if err != nil {
			return nil, kubeconfig.Explain(err)
		}
		if survey, err = survey.Only(names); err != nil {
			return nil, err
		}
		err = survey.ReadPods(ctx, c, logs)
		return survey, kubeconfig.Explain(err)
	}
	report, err := ops.InspectNamespace(ctx, c, namespace, names...)
	if err != nil {
		return nil, kubeconfig.Explain(err)
	}
	if report, err = report.Only(names); err != nil {
		return nil, err
	}
	err = report.ReadPods(ctx, c, logs)
	return report, kubeconfig.Explain(err)
}

func newListCommand(s command.Streams) *cobra.Command {
	var o overview
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the operators that are installed or asked for, of both APIs, with their versions and what is wrong with them",
		Long: `List the operators that are installed or asked for, of both APIs: each Subscription, each ClusterServiceVersion without one, and each
ClusterExtension, with the version that is installed and the first reason why it is not as it should be. Those of all namespaces are listed, unless
-n or the context of the kubeconfig names one. An operator is listed where it is installed, not where it watches.
` + overviewHelp,
		Example: `  fairlead list
  fairlead list -n operators -o json`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.list(cmd, s, func(ctx context.Context, c client.Client, namespace string) (overviewed, error) {
				return ops.List(ctx, c, namespace)
			})
		},
	}
	o.flags(cmd, "list the operators of all namespaces, whatever the context of the kubeconfig names")
	return cmd
}

const overviewHelp = `
Exit code 0: all that is shown is done and works. 3: something is not, and it is marked with ✗; with -o json or yaml, too. 1: something that was named
does not exist, or cannot be read. 2: wrong usage.`

// overview is what status and list have in common.
type overview struct {
	cluster kubeconfig.Flags
	all     bool
	output  command.Output
}

func (o *overview) flags(cmd *cobra.Command, all string) {
	o.cluster.AddCluster(cmd.Flags())
	o.cluster.AddNamespace(cmd.Flags())
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, all)
	o.output.Flag(cmd)
}

func (o *overview) check(flags *pflag.FlagSet) error {
	if o.all && flags.Changed("namespace") {
		return command.UsageError{Err: errors.New("--all-namespaces and --namespace exclude each other: leave one out")}
	}
	return o.output.Check()
}

// overviewed is what an overview shows.
type overviewed interface {
	command.Printer
	Done() bool
}

// list prints what all namespaces have, or the one that was chosen.
func (o *overview) list(cmd *cobra.Command, s command.Streams, read func(ctx context.Context, c client.Client, namespace string) (overviewed, error)) error {
	if err := o.check(cmd.Flags()); err != nil {
		return err
	}
	c, namespace, err := o.cluster.Connect()
	if err != nil {
		return err
	}
	if o.all || !o.cluster.Chosen() {
		namespace = ""
	}
	result, err := read(cmd.Context(), c, namespace)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	return o.answer(s, result)
}

// answer prints an overview. That something in it is not done is a no.
func (o *overview) answer(s command.Streams, result overviewed) error {
	if err := o.output.Write(s.Out, result, result.Write); err != nil {
		return err
	}
	if !result.Done() {
		return command.ExitError{Code: command.ExitNo}
	}
	return nil
}
