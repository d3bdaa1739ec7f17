package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bothAPIs is what both APIs have flags for.
type bothAPIs struct {
	Package string
	// Namespace is empty where none was chosen.
	Namespace        string
	Channel, Catalog string
	Watch            []string
	Wait             time.Duration
	DryRun           bool
	Output           command.Output

	catalogs opener
}

// opener opens the catalogs of a cluster, for as long as a function takes.
type opener func(ctx context.Context, do func(preview.BrowseCluster) error) error

func openCatalogs(s command.Streams, k *kubeconfig.Flags, c client.Client) opener {
	return func(ctx context.Context, do func(preview.BrowseCluster) error) error {
		return withLibrary(ctx, s, func(library *preview.Library) error {
			cluster, err := browse(k, c, library)
			if err != nil {
				return err
			}
			return do(cluster)
		})
	}
}

// lookUp finds what is asked for in the catalogs of some names, or in all that there are, and prints what could not be read.
func (b bothAPIs) lookUp(ctx context.Context, s command.Streams, asked preview.Asked, only []string,
	read func(ctx context.Context, cluster preview.BrowseCluster, pkg string) (preview.Answer, error)) (preview.Offer, error) {
	var o preview.Offer
	err := b.catalogs(ctx, func(cluster preview.BrowseCluster) (err error) {
		cluster.Namespace, cluster.Catalogs = b.Namespace, only
		o, err = asked.LookUp(ctx, func(ctx context.Context, pkg string) (preview.Answer, error) { return read(ctx, cluster, pkg) })
		return err
	})
	for _, note := range o.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", note)
	}
	if errors.As(err, new(*preview.NotOfferedError)) {
		return o, command.NoError{Err: err}
	}
	return o, kubeconfig.Explain(err)
}

// place is the namespace to install into: the one that was chosen, else the one that the operator suggests, else the usual one.
func (b bothAPIs) place(s command.Streams, suggested string) string {
	if b.Namespace != "" {
		return b.Namespace
	}
	namespace, why := cmp.Or(suggested, ops.DefaultNamespace), ""
	if suggested != "" {
		why = ", which the operator suggests"
	}
	fmt.Fprintf(s.Err, "note: no namespace was chosen, with -n or in the kubeconfig's context: it is %s%s\n", namespace, why)
	return namespace
}

// created says what was created, or would be: then it prints the object that asks for the rest, and says that there is no more to do.
func (b bothAPIs) created(s command.Streams, printer *command.ProgressPrinter, created, notes []string, object client.Object, err error) (done bool, _ error) {
	for _, note := range notes {
		fmt.Fprintf(s.Err, "note: %s\n", note)
	}
	if !b.DryRun {
		for _, what := range created {
			printer.Done("created %s", what)
		}
	}
	if err != nil || !b.DryRun {
		return err != nil, kubeconfig.Explain(err)
	}
	object.SetManagedFields(nil)
	return true, b.Output.Write(s.Out, object, func(w io.Writer) error {
		for _, what := range created {
			fmt.Fprintf(w, "would create %s\n", what)
		}
		if len(created) == 0 {
			fmt.Fprintln(w, "nothing to create: all of it is there")
		}
		return nil
	})
}

// ended ends a wait that did not succeed: the reason is printed once, with what to do next.
func ended(printer *command.ProgressPrinter, err error, next string) error {
	printer.Forget()
	err = fmt.Errorf("%w\n%s", err, next)
	if errors.As(err, new(*ops.StoppedError)) {
		return command.NoError{Err: err}
	}
	return err
}
