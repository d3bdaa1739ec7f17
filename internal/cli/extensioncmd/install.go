package extensioncmd

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

// Install is `fairlead install --api v1`: what its flags say, besides those that both APIs have.
type Install struct {
	options  ops.ExtensionOptions
	selector string
	config   string
	image    string
	needs    bool
	failing  failing
	output   command.Output
	own      *pflag.FlagSet
}

// Flags adds the flags of the v1 API.
func (i *Install) Flags(cmd *cobra.Command) {
	i.own = pflag.NewFlagSet("v1", pflag.ContinueOnError)
	o, flags := &i.options, i.own
	flags.StringVar(&o.Name, "name", "", "v1: name of the ClusterExtension (default: that of the package)")
	flags.StringVar(&o.Version, "version", "", "v1: version or range of versions, such as 1.2.0 or '>=1.2.0 <2.0.0' (default: the newest)")
	flags.StringVar(&o.Policy, "upgrade-constraint-policy", "", "v1: CatalogProvided or SelfCertified (default: CatalogProvided)")
	flags.StringVar(&i.selector, "catalog-selector", "", "v1: labels of the ClusterCatalogs to look into, such as team=a,stage!=test")
	flags.StringVar(&o.ServiceAccount, "service-account", "", "v1: ServiceAccount of the namespace that the objects are written as (default: the manager itself)")
	flags.StringVar(&i.config, "config", "", "v1: file with the configuration, spec.config.inline, as YAML or JSON; - is standard input")
	flags.StringVar(&i.image, "image", "", "v1: install the bundle of this image, which no catalog needs to have, for tests and hotfixes; PACKAGE can be left out then")
	flags.StringVar(&o.CRDSafety, "crd-upgrade-safety", "", "v1: Strict or None (default: Strict)")
	flags.BoolVar(&o.CreateNamespace, "create-namespace", false, "v1: create the namespace where it is missing")
	flags.BoolVar(&i.needs, "install-dependencies", false, "v1: install what the operator needs, too")
	i.failing.flags(flags)
	flags.BoolVar(&o.DryRun, "dry-run", false, "v1: let the API server check the ClusterExtension, print it, and write nothing")
	i.output.Flag(cmd)
	cmd.Flags().AddFlagSet(flags)
}

// Changed names a flag of the v1 API that was given; empty when there is none.
func (i *Install) Changed(cmd *cobra.Command) string {
	changed := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if i.own.Lookup(f.Name) != nil || f.Name == "output" {
			changed = f.Name
		}
	})
	return changed
}

// Image is the image that is to be installed; empty is for what catalogs have.
func (i *Install) Image() string { return i.image }

// Both is what both APIs have flags for.
type Both struct {
	Package, Namespace, Channel, Catalog string
	Watch                                []string
	Wait                                 time.Duration
}

// Check refuses what no ClusterExtension says, before a cluster is asked.
func (i *Install) Check(both Both) error {
	var wrong error
	if p := i.options.Policy; p != "" && p != "CatalogProvided" && p != "SelfCertified" {
		wrong = fmt.Errorf("--upgrade-constraint-policy %q: choose CatalogProvided or SelfCertified", p)
	}
	if s := i.options.CRDSafety; s != "" && s != "Strict" && s != "None" {
		wrong = fmt.Errorf("--crd-upgrade-safety %q: choose Strict or None", s)
	}
	for flag, given := range map[string]bool{"version": i.options.Version != "", "channel": both.Channel != "", "upgrade-constraint-policy": i.options.Policy != ""} {
		if i.image != "" && given {
			wrong = fmt.Errorf("--%s says nothing beside --image: leave one of them out", flag)
		}
	}
	if strings.Contains(both.Catalog, "/") {
		wrong = fmt.Errorf("--catalog %q: write the name of a ClusterCatalog; it has no namespace", both.Catalog)
	}
	if err := i.failing.check(); err != nil {
		wrong = err
	}
	if i.selector != "" {
		selector, err := metav1.ParseToLabelSelector(i.selector)
		if err != nil {
			wrong = fmt.Errorf("--catalog-selector %q: %w", i.selector, err)
		}
		i.options.Selector = selector
	}
	if wrong != nil {
		return command.UsageError{Err: wrong}
	}
	return i.output.Check()
}

// Run creates the ClusterExtension and waits until it is installed.
func (i *Install) Run(ctx context.Context, s command.Streams, c client.Client, both Both) error {
	o := i.options
	o.Package, o.Namespace, o.Watch = both.Package, both.Namespace, both.Watch
	var err error
	if both.Channel != "" {
		o.Channels = strings.Split(both.Channel, ",")
	}
	if both.Catalog != "" {
		o.Catalogs = strings.Split(both.Catalog, ",")
	}
	o.Annotations = map[string]string{}
	if i.needs {
		o.Annotations[ops.DependenciesKey] = "true"
	}
	if i.failing.rollback {
		o.Annotations[ops.OnFailureKey] = ops.OnFailureRollback
	}
	o.ProgressDeadlineMinutes = i.failing.minutes()
	if i.config != "" {
		if o.Config, err = readConfig(s.In, i.config); err != nil {
			return err
		}
	}
	if i.image != "" { // after all that costs less
		o.Image = i.image
		if err := o.Place(ctx, c); err != nil {
			return kubeconfig.Explain(err)
		}
		if o.Image, o.Package, err = chosenImage(ctx, s, i.image, both.Package); err != nil {
			return err
		}
	}
	asked, err := ops.InstallExtension(ctx, c, o)
	printer := command.Progress(told(s, i.output))
	for _, note := range asked.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", note)
	}
	if !o.DryRun {
		for _, what := range asked.Created {
			printer.Done("created %s", what)
		}
	}
	if err != nil {
		return kubeconfig.Explain(err)
	}
	if o.DryRun {
		return i.show(s, asked)
	}
	if both.Wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, both.Wait)
		defer cancel()
		e, err := ops.WaitExtension(ctx, c, asked.Extension.Name, func(_, message string) { printer.Note("%s", message) })
		if err != nil {
			return fmt.Errorf("%w\nThe ClusterExtension stays, and the operator is installed when the cause is gone. To give up: fairlead uninstall %s",
				err, asked.Extension.Name)
		}
		asked.Extension = e
		if e.Status.Install != nil {
			printer.Done("%s is installed and works in namespace %s", e.Status.Install.Bundle.Name, e.Spec.Namespace)
		}
	}
	return i.output.Write(s.Out, asked.Extension, func(io.Writer) error { return nil })
}

// show prints what would be written.
func (i *Install) show(s command.Streams, asked ops.AskedExtension) error {
	asked.Extension.ManagedFields = nil
	return i.output.Write(s.Out, asked.Extension, func(w io.Writer) error {
		for _, what := range asked.Created {
			fmt.Fprintf(w, "would create %s\n", what)
		}
		if len(asked.Created) == 0 {
			fmt.Fprintln(w, "nothing to create: all of it is there")
		}
		return nil
	})
}
