package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/authoring"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
)

// newCatalogCommand is `fairlead catalog`: the commands of authors, and those about the catalogs of a cluster. `catalog list` alone lists these, and with
// packages, channels or bundles what a catalog has.
func newCatalogCommand(s command.Streams) *cobra.Command {
	cmd := authoring.NewCatalog(s)
	cmd.Short = "Write, check, test, compare and serve file-based catalogs; add, list and remove those of a cluster"
	for _, below := range cmd.Commands() {
		if below.Name() == "list" {
			listClusterCatalogs(s, below)
		}
	}
	cmd.AddCommand(newCatalogAddCommand(s), newCatalogRemoveCommand(s), newCatalogTestCommand(s))
	return cmd
}

// listClusterCatalogs lets the group of commands that list what catalogs have list the catalogs of a cluster.
func listClusterCatalogs(s command.Streams, cmd *cobra.Command) {
	var o overview
	cmd.Short = "List the catalogs of a cluster; or the packages, channels or bundles of a catalog"
	cmd.Long = `Without packages, channels or bundles: list the CatalogSources and ClusterCatalogs of a cluster, with where their content comes from, its
digest and age, and what is wrong. CatalogSources of all namespaces are listed, unless -n or the context of the kubeconfig names one.
` + overviewHelp + `

` + cmd.Long
	cmd.Example = `  fairlead catalog list
  fairlead catalog list -n olm -o json
  fairlead catalog list packages ./catalog`
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return o.list(cmd, s, func(ctx context.Context, c client.Client, namespace string) (overviewed, error) {
			return ops.ListCatalogs(ctx, c, namespace)
		})
	}
	o.flags(cmd, "list the CatalogSources of all namespaces, whatever the context of the kubeconfig names")
}

// place is the API and the namespace of a catalog, as flags say them.
type place struct {
	target
	global string
}

func (p *place) flags(cmd *cobra.Command, api string) {
	p.cluster.AddCluster(cmd.Flags())
	p.cluster.AddNamespace(cmd.Flags())
	cmd.Flags().StringVar(&p.api, "api", "", api)
	cmd.Flags().StringVar(&p.global, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see: that of a CatalogSource where neither -n nor the context names one")
}

// connect reaches the cluster, and chooses the namespace of a CatalogSource.
func (p *place) connect() (client.Client, string, error) {
	c, namespace, err := p.cluster.Connect()
	if !p.cluster.Chosen() {
		namespace = p.global
	}
	return c, namespace, err
}

// addition is `fairlead catalog add`: what its flags say.
type addition struct {
	command.Streams
	output  command.Output
	options ops.CatalogOptions
	wait    time.Duration
}

func newCatalogAddCommand(s command.Streams) *cobra.Command {
	a := addition{Streams: s}
	var p place
	cmd := &cobra.Command{
		Use:   "add NAME IMAGE",
		Short: "Create a catalog in a cluster, and wait until it serves its content",
		Long: `Create a CatalogSource (--api v0) or a ClusterCatalog (--api v1) with a catalog image, and wait until its content is served. It ends at once, with
the reason, where a user has to change something, and after some seconds where the image cannot be had: the catalog stays, and the manager tries again.
One of that name that has the image already is waited for; with another image it is an error.

Exit code 0: it serves its content. 1: it does not, or could not be created. 2: wrong usage.`,
		Example: `  fairlead catalog add community quay.io/example/catalog:v1
  fairlead catalog add mine quay.io/example/catalog:v1 -n my-namespace --pull-secret registry
  fairlead catalog add community quay.io/example/catalog:v1 --api v1`,
		Args: command.Usage(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.options.Name, a.options.Image = args[0], args[1]
			if !cmd.Flags().Changed("poll") && !strings.Contains(args[1], "@") {
				a.options.Poll = ops.DefaultPoll
			}
			if err := errors.Join(p.check(), a.output.Check()); err != nil {
				return err
			}
			if p.api == apiV1 && cmd.Flags().Changed("namespace") {
				return command.UsageError{Err: errors.New("--api v1 and --namespace exclude each other: a ClusterCatalog belongs to no namespace")}
			}
			c, namespace, err := p.connect()
			if err != nil {
				return err
			}
			if p.api != apiV1 {
				a.options.Namespace = namespace
			}
			if err := a.options.Check(); err != nil {
				return command.UsageError{Err: err}
			}
			return kubeconfig.Explain(a.run(cmd.Context(), c))
		},
	}
	p.flags(cmd, "API of the catalog: v0 creates a CatalogSource, v1 a ClusterCatalog (default: v0)")
	a.output.Flag(cmd)
	flags := cmd.Flags()
	flags.IntVar(&a.options.Priority, "priority", 0, "of catalogs that offer the same, the one with the higher priority is preferred")
	flags.DurationVar(&a.options.Poll, "poll", 0, "how often a new image is looked for; 0 is never (default: 15m0s for a tag)")
	flags.StringSliceVar(&a.options.Secrets, "pull-secret", nil, "pull secret in the namespace of a CatalogSource (may be repeated)")
	flags.BoolVar(&a.options.DryRun, "dry-run", false, "let the API server check the catalog, and write nothing")
	flags.DurationVar(&a.wait, "wait", 5*time.Minute, "how long to wait until it serves its content; 0 not at all")
	return cmd
}

func (a *addition) run(ctx context.Context, c client.Client) error {
	catalog, created, err := ops.AddCatalog(ctx, c, a.options)
	if err != nil {
		return err
	}
	printer := a.output.Progress(a.Streams)
	switch {
	case a.options.DryRun && created:
		printer.Note("would create %s with image %s", catalog.Describe(), a.options.Image)
	case created:
		printer.Done("created %s with image %s", catalog.Describe(), a.options.Image)
	default:
		printer.Note("%s has image %s already", catalog.Describe(), a.options.Image)
	}
	if !a.options.DryRun && a.wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, a.wait)
		defer cancel()
		key := client.ObjectKey{Namespace: catalog.Namespace, Name: catalog.Name}
		catalog, err = ops.WaitCatalog(waiting, c, key, func(message string) { printer.Waiting(message) })
		if err != nil {
			printer.Forget()
			return fmt.Errorf("%w\nThe catalog stays, and is read when the cause is gone. To see how it is: fairlead catalog list. To remove it: fairlead catalog remove %s", err, catalog.Arguments())
		}
		printer.Done("%s serves its content", catalog.Describe())
	}
	return a.output.Write(a.Out, catalog, func(io.Writer) error { return nil })
}

// catalogRemoval is `fairlead catalog remove`: what its flags say.
type catalogRemoval struct {
	command.Change
	wait time.Duration
}

func newCatalogRemoveCommand(s command.Streams) *cobra.Command {
	r := catalogRemoval{Change: command.Change{Streams: s}}
	var p place
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a catalog from a cluster, after naming what depends on it",
		Long: `Remove a CatalogSource or ClusterCatalog. The Subscriptions and ClusterExtensions that use it are named before, and you are asked. What is
installed stays, and gets nothing newer from then on.

Exit code 0: it was removed, or --dry-run showed what would be. 3: you did not say yes. 1: something went wrong. 2: wrong usage.`,
		Example: `  fairlead catalog remove community
  fairlead catalog remove mine -n my-namespace --api v0 --yes`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(p.check(), r.Check()); err != nil {
				return err
			}
			c, namespace, err := p.connect()
			if err != nil {
				return err
			}
			return kubeconfig.Explain(r.run(cmd.Context(), c, p.api, client.ObjectKey{Namespace: namespace, Name: args[0]}))
		},
	}
	p.flags(cmd, "API of the catalog: v0 or v1 (default: whichever has it)")
	r.Flags(cmd, "only show what depends on it, and let the API server check the removal")
	cmd.Flags().DurationVar(&r.wait, "wait", time.Minute, "how long to wait until it is gone")
	return cmd
}

func (r *catalogRemoval) run(ctx context.Context, c client.Client, api string, key client.ObjectKey) error {
	removal, err := ops.FindCatalog(ctx, c, api, key)
	if err != nil {
		return err
	}
	if err := removal.ReadDependents(ctx, c); err != nil {
		return err
	}
	if err := r.Output.Write(r.Out, removal, removal.Write); err != nil {
		return err
	}
	if !r.DryRun {
		if err := r.Ask(fmt.Sprintf("Remove %s?", removal.Catalog.Describe()), "Nothing was removed."); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, r.wait)
	defer cancel()
	if err := removal.Remove(ctx, c, r.DryRun); err != nil || r.DryRun {
		return err
	}
	r.Output.Progress(r.Streams).Done("removed %s", removal.Catalog.Describe())
	return nil
}
