package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const installHelp = `Install a package from a catalog: create the namespace, an OperatorGroup and a Subscription where they are missing, and wait
until the operator runs. What keeps it from running is shown as it changes.

The OperatorGroup that is created lets the operator watch all namespaces; --watch names others. A namespace that has an
OperatorGroup keeps it.

With --api v1 a ClusterExtension is created instead, in a namespace that has to be there (or --create-namespace creates it); the flags
that begin with "v1:" are about that. What is missing is said before anything is written, and what the manager says of the
ClusterExtension is shown as it changes.

With --image the bundle of that image is installed by the v1 API, whatever catalogs have: for tests and hotfixes. A tag is followed once, and the
digest is kept. fairlead upgrade NAME --image exchanges it, and fairlead upgrade NAME --image '' continues with what catalogs have.`

func newInstallCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var o ops.InstallOptions
	var wait time.Duration
	var v1 extensionInstall
	var api string
	cmd := &cobra.Command{
		Use:   "install PACKAGE",
		Short: "Install an operator from a catalog, or from an image",
		Long:  installHelp,
		Example: `  fairlead install etcd -n operators
  fairlead install etcd --api v1 -n etcd --create-namespace --version '>=0.10.0 <0.11.0'
  fairlead install --image registry.example.com/etcd-bundle:hotfix -n etcd`,
		Args: command.Usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			pkg := strings.Join(args, "")
			switch {
			case pkg == "" && v1.image == "":
				return command.UsageError{Err: errors.New("name a package; fairlead search lists them")}
			case v1.image != "" && !cmd.Flags().Changed("api"):
				api = apiV1 // the other one has nothing like it
			}
			both := bothAPIs{Package: pkg, Channel: o.Channel, Catalog: o.Catalog, Watch: o.Targets, Wait: wait}
			if err := checkInstall(cmd, api, &v1, both); err != nil {
				return err
			}
			c, namespace, err := k.Connect()
			if err != nil {
				return err
			}
			if api == apiV1 {
				both.Namespace = namespace
				return v1.run(cmd.Context(), s, c, both)
			}
			o.Package, o.Namespace = pkg, namespace
			return runInstall(cmd.Context(), s, c, o, wait)
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&o.Channel, "channel", "", "channel to follow; with --api v1 also several, joined by commas (default: any channel of the package, its default channel first)")
	flags.StringVar(&o.StartingCSV, "starting-csv", "", "version to install first (default: the channel's newest)")
	flags.StringVar(&o.Catalog, "catalog", "", "[NAMESPACE/]NAME of the CatalogSource (default: the only one in view); with --api v1 the ClusterCatalogs, joined by commas (default: all)")
	flags.StringVar(&o.GlobalNamespace, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see")
	flags.BoolVar(&o.Manual, "manual", false, "ask for approval before anything is installed or upgraded")
	flags.StringSliceVar(&o.Targets, "watch", nil, "namespaces for the operator to watch (default: all); also --watch-namespace")
	flags.DurationVar(&wait, "wait", 5*time.Minute, "how long to wait until the operator runs; 0 not at all")
	flags.StringVar(&api, "api", apiV0, "API to install by: v0 creates a Subscription, v1 a ClusterExtension")
	v1.flags(cmd)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "watch-namespace" { // as the configuration of extensions calls it
			name = "watch"
		}
		return pflag.NormalizedName(name)
	})
	return cmd
}

// v0Only are the flags that say nothing by the v1 API.
var v0Only = []string{"starting-csv", "manual", "global-namespace"}

// checkInstall refuses flags of one API where the other is asked for.
func checkInstall(cmd *cobra.Command, api string, v1 *extensionInstall, both bothAPIs) error {
	switch api {
	case apiV0:
		var err error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if v1.own.Lookup(f.Name) != nil || f.Name == "output" {
				err = command.UsageError{Err: fmt.Errorf("--%s is for the v1 API: add --api v1, or leave it out", f.Name)}
			}
		})
		return err
	case apiV1:
		for _, name := range v0Only {
			if cmd.Flags().Changed(name) {
				return command.UsageError{Err: fmt.Errorf("--%s is for the v0 API: leave it out, or --api v1", name)}
			}
		}
		return v1.check(both)
	}
	return command.UsageError{Err: fmt.Errorf("--api %q: choose %s or %s", api, apiV0, apiV1)}
}

func runInstall(ctx context.Context, s command.Streams, c client.Client, o ops.InstallOptions, wait time.Duration) error {
	printer := command.Progress(s.Out)
	created, err := ops.InstallPackage(ctx, c, o)
	for _, what := range created {
		printer.Done("created %s", what)
	}
	if err != nil || wait == 0 {
		return kubeconfig.Explain(err)
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	csv, err := ops.WaitPackage(ctx, c, client.ObjectKey{Namespace: o.Namespace, Name: o.Package}, func(_, message string) {
		printer.Note("%s", message)
	})
	if err != nil {
		return fmt.Errorf("%w\nThe Subscription stays, and the operator is installed when the cause is gone. To give up: kubectl -n %s delete subscription %s",
			err, o.Namespace, o.Package)
	}
	printer.Done("%s is installed and running in namespace %s", csv, o.Namespace)
	return nil
}
