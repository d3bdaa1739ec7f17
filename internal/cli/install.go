package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops/preview"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
)

const installHelp = `Install a package from a catalog: create the namespace, an OperatorGroup and a Subscription where they are missing, and wait
until the operator runs. What keeps it from running is shown as it changes.

Package, channel and version are looked up in the catalogs before anything is written. Without --channel the default channel of the package is
written. Without a namespace, in -n or in the context of the kubeconfig, it is the one that the operator suggests, or else operators.

The OperatorGroup that is created lets the operator watch all namespaces, or its own alone where it supports no more; --watch names others. A namespace
that has an OperatorGroup keeps it.

With --api v1 a ClusterExtension is created instead, in a namespace that has to be there (or --create-namespace creates it); the flags
that begin with "v1:" are about that. What is missing is said before anything is written, and what the manager says of the
ClusterExtension is shown as it changes.

With --adopt a ClusterExtension gets objects that exist and have no owner, as they are: a CustomResourceDefinition of an earlier installation with all its custom
resources, for instance. What another ClusterExtension, a ClusterServiceVersion or a Helm release has stays with that.

With --image the bundle of that image is installed by the v1 API, whatever catalogs have: for tests and hotfixes. A tag is followed once, and the
digest is kept. fairlead upgrade NAME --image exchanges it, and fairlead upgrade NAME --image '' continues with what catalogs have.

Exit code 0: it is installed and runs, or it waits for the approval that --manual asks for, or --dry-run has shown what would be created. 3: no
catalog has what is asked for; or nothing more happens until someone changes something, and the reason and the next command are printed. 1: something
went wrong, or the time of --wait is over. 2: wrong usage.`

func newInstallCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var v0 subscriptionInstall
	var v1 extensionInstall
	var both bothAPIs
	var api string
	cmd := &cobra.Command{
		Use:   "install PACKAGE",
		Short: "Install an operator from a catalog, or from an image",
		Long:  installHelp,
		Example: `  fairlead install etcd -n operators
  fairlead install etcd --dry-run -o yaml
  fairlead install etcd --api v1 -n etcd --create-namespace --version '>=0.10.0 <0.11.0'
  fairlead install --image registry.example.com/etcd-bundle:hotfix -n etcd`,
		Args: command.Usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			both.Package = strings.Join(args, "")
			switch {
			case both.Package == "" && v1.image == "":
				return command.UsageError{Err: errors.New("name a package; fairlead search lists them")}
			case v1.image != "" && !cmd.Flags().Changed("api"):
				api = apiV1 // the other one has nothing like it
			}
			if err := checkInstall(cmd, api, &v1, both); err != nil {
				return err
			}
			c, namespace, err := k.Connect()
			if err != nil {
				return err
			}
			if k.Chosen() {
				both.Namespace = namespace
			}
			both.catalogs = openCatalogs(s, &k, c)
			if api == apiV1 {
				return v1.run(cmd.Context(), s, c, both)
			}
			return v0.run(cmd.Context(), s, c, both)
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&both.Channel, "channel", "", "channel to follow; with --api v1 also several, joined by commas (default: the default channel of the package)")
	flags.StringVar(&both.Catalog, "catalog", "", "catalog of the cluster to install from: [NAMESPACE/]NAME of a CatalogSource (default: the only one in view that has the package); with --api v1 NAME[,NAME...] of ClusterCatalogs (default: all)")
	flags.StringSliceVar(&both.Watch, "watch", nil, "namespaces for the operator to watch (default: all); also --watch-namespace")
	flags.DurationVar(&both.Wait, "wait", 5*time.Minute, "how long to wait until the operator runs; 0 not at all")
	flags.StringVar(&api, "api", apiV0, "API to install by: v0 creates a Subscription, v1 a ClusterExtension")
	flags.BoolVar(&both.DryRun, "dry-run", false, "let the API server check what would be created, print it, and write nothing")
	both.Output.Flag(cmd)
	v0.flags(flags)
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
	if err := both.Output.Check(); err != nil {
		return err
	}
	if both.Catalog != "" {
		named, err := preview.ParseClusterCatalogs(both.Catalog)
		if err == nil && api == apiV0 && len(named) > 1 {
			err = errors.New("--catalog names several: a Subscription follows one CatalogSource")
		}
		if err != nil {
			return command.UsageError{Err: err}
		}
	}
	switch api {
	case apiV0:
		var err error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if v1.own.Lookup(f.Name) != nil {
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

// globalNamespaceFlag is the flag for the namespace of the catalogs that all namespaces see.
func globalNamespaceFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see")
}
