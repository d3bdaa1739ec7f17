package cli

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/internal/install"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/cli/kube"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const installHelp = `Install a package from a catalog: create the namespace, an OperatorGroup and a Subscription where they are missing, and wait
until the operator runs. What keeps it from running is shown as it changes.

The OperatorGroup that is created lets the operator watch all namespaces; --watch names others. A namespace that has an
OperatorGroup keeps it.`

func newInstallCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var o install.Options
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "install PACKAGE",
		Short: "Install an operator from a catalog",
		Long:  installHelp,
		Args:  command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, namespace, err := kube.Connect(&k)
			if err != nil {
				return err
			}
			o.Package, o.Namespace = args[0], namespace
			return runInstall(cmd.Context(), s, c, o, wait)
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&o.Channel, "channel", "", "channel to follow (default: any channel of the package, its default channel first)")
	flags.StringVar(&o.StartingCSV, "starting-csv", "", "version to install first (default: the channel's newest)")
	flags.StringVar(&o.Catalog, "catalog", "", "[NAMESPACE/]NAME of the CatalogSource (default: the only one in view)")
	flags.StringVar(&o.GlobalNamespace, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see")
	flags.BoolVar(&o.Manual, "manual", false, "ask for approval before anything is installed or upgraded")
	flags.StringSliceVar(&o.Targets, "watch", nil, "namespaces for the operator to watch (default: all)")
	flags.DurationVar(&wait, "wait", 5*time.Minute, "how long to wait until the operator runs; 0 not at all")
	return cmd
}

func runInstall(ctx context.Context, s command.Streams, c client.Client, o install.Options, wait time.Duration) error {
	printer := command.Progress(s.Out)
	created, err := install.Package(ctx, c, o)
	for _, what := range created {
		printer.Done("created %s", what)
	}
	if err != nil || wait == 0 {
		return kube.Explain(err)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	csv, err := install.Wait(ctx, c, client.ObjectKey{Namespace: o.Namespace, Name: o.Package}, func(_, message string) {
		printer.Note("%s", message)
	})
	if err != nil {
		return fmt.Errorf("%w\nThe Subscription stays, and the operator is installed when the cause is gone. To give up: kubectl -n %s delete subscription %s",
			err, o.Namespace, o.Package)
	}
	printer.Done("%s is installed and running in namespace %s", csv, o.Namespace)
	return nil
}
