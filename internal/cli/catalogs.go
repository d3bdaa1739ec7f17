package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// The APIs that can be asked for.
const (
	apiV0 = "v0"
	apiV1 = "v1"
)

// catalogs are the catalogs that a question is about, as its flags say.
type catalogs struct {
	streams command.Streams
	cluster kubeconfig.Flags
	named   []string
	offline []preview.Catalog // those of named that are no names of the cluster's
	from    []string
	api     string
	output  command.Output
	// noImages leaves out what would have to be pulled as an image.
	noImages bool
}

// errNoImages is why an image is not read.
var errNoImages = errors.New("images are not pulled to complete a command line")

const catalogsHelp = `
The catalogs are those of the cluster: its ClusterCatalogs, which are read over their HTTP API, and the packages that the v0 API shows in
the namespace. --api limits it to one of them, and --catalog to some. An image or a directory is read without a cluster.

What could not be read is told on standard error, and does not hide the rest.

Exit code 0: something was found. 3: nothing was. 1: something that was named, or none of the catalogs, can be read. 2: wrong usage.`

func (c *catalogs) flags(cmd *cobra.Command) {
	c.output.Flag(cmd)
	c.cluster.AddCluster(cmd.Flags())
	c.cluster.AddNamespace(cmd.Flags())
	flags := cmd.Flags()
	flags.StringArrayVar(&c.named, "catalog", nil, "catalog to look into, and no other; an image or a directory is read without a cluster: "+preview.CatalogGrammar+" (may be repeated)")
	flags.StringSliceVar(&c.from, "from", nil, "look only into the catalogs of these names")
	flags.StringVar(&c.api, "api", "", "look only at catalogs of this API: v0 or v1 (default: both)")
	cmd.MarkFlagsMutuallyExclusive("catalog", "from")
}

func (c *catalogs) check() error {
	if c.api != "" && c.api != apiV0 && c.api != apiV1 {
		return command.UsageError{Err: fmt.Errorf("--api %q: choose %s or %s, or leave it out for both", c.api, apiV0, apiV1)}
	}
	for _, text := range c.named {
		named, err := preview.ParseCatalogFlag(text)
		switch {
		case err != nil:
			return command.UsageError{Err: err}
		case named.Offline():
			c.offline = append(c.offline, named)
		default:
			c.from = append(c.from, named.Ref.String())
		}
	}
	switch {
	case len(c.offline) > 0 && len(c.from) > 0:
		return command.UsageError{Err: errors.New("--catalog names catalogs of the cluster beside images or directories: ask for them one after the other")}
	case len(c.offline) > 0 && c.api != "":
		return command.UsageError{Err: errors.New("--api chooses among the catalogs of the cluster, and --catalog names an image or a directory: leave one of them out")}
	}
	return c.output.Check()
}

// read reads all packages, or the one that is named, and tells what could not be read.
func (c *catalogs) read(ctx context.Context, pkg string) (a preview.Answer, err error) {
	err = withLibrary(ctx, c.streams, func(library *preview.Library) (err error) {
		if c.noImages {
			library.Images = func(context.Context) (*image.Store, error) { return nil, errNoImages }
		}
		if len(c.offline) == 0 {
			a, err = c.online(ctx, library, pkg)
			return err
		}
		for _, named := range c.offline {
			if err := a.Offline(ctx, library, named.Ref.Name, named.Source, pkg); err != nil && !errors.Is(err, errNoImages) {
				return err
			}
		}
		return nil
	})
	return a, err
}

func (c *catalogs) online(ctx context.Context, library *preview.Library, pkg string) (a preview.Answer, err error) {
	reader, namespace, err := c.cluster.Connect()
	switch {
	case err != nil && len(c.named) > 0:
		return a, fmt.Errorf("%w; --catalog %s names a catalog of the cluster, since there is no such directory", err, c.named[0])
	case err != nil:
		return a, fmt.Errorf("%w; without a cluster, name a directory or an image with --catalog", err)
	}
	cluster, err := browse(&c.cluster, reader, library)
	if err != nil {
		return a, err
	}
	cluster.Namespace, cluster.Catalogs = namespace, c.from
	ask := map[string]func(context.Context, string) (preview.Answer, error){"": cluster.Both, apiV0: cluster.V0, apiV1: cluster.V1}[c.api]
	if a, err = ask(ctx, pkg); err != nil {
		for _, note := range a.Notes { // of the catalogs that could not be read besides
			fmt.Fprintf(c.streams.Err, "note: %s\n", note)
		}
		return a, kubeconfig.Explain(err)
	}
	return a, nil
}

// browse reads the catalogs of the cluster that the flags name.
func browse(k *kubeconfig.Flags, reader client.Reader, library *preview.Library) (preview.BrowseCluster, error) {
	config, err := k.Config()
	if err != nil {
		return preview.BrowseCluster{}, err
	}
	servers, err := preview.NewServers(config)
	if err != nil {
		return preview.BrowseCluster{}, err
	}
	return preview.BrowseCluster{Reader: reader, Servers: servers, Library: library, Dial: kubeconfig.Dialer(config, reader)}, nil
}

// answer prints what was found, or says that nothing was.
func (c *catalogs) answer(a preview.Answer, found int, what string, result command.Printer) error {
	for _, note := range a.Notes {
		fmt.Fprintf(c.streams.Err, "note: %s\n", note)
	}
	if a.Catalogs > 0 && a.Read == 0 {
		return fmt.Errorf("none of the catalogs that there are (%d) could be read, so nothing can be said of what they have; the notes say why: mend the catalogs, "+
			"or name a directory or an image with --catalog", a.Catalogs)
	}
	if found > 0 || c.output != command.OutputText {
		if err := c.output.Write(c.streams.Out, result, result.Write); err != nil || found > 0 {
			return err
		}
	}
	if a.Catalogs == 0 {
		return errors.New("there is no catalog to look into; create a ClusterCatalog or a CatalogSource, or name a directory or an image with --catalog" + a.Elsewhere)
	}
	fmt.Fprintf(c.streams.Err, "%s; looked into %s\n", what, safetext.Count(a.Catalogs, "catalog"))
	return command.ExitError{Code: command.ExitNo}
}
