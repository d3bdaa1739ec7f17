package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// extensionInstall is `fairlead install --api v1`: what its flags say, besides those that both APIs have.
type extensionInstall struct {
	options  ops.ExtensionOptions
	selector string
	config   string
	image    string // empty is for what catalogs have
	needs    bool
	failing  failing
	own      *pflag.FlagSet
}

// flags adds the flags of the v1 API.
func (i *extensionInstall) flags(cmd *cobra.Command) {
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
	flags.BoolVar(&o.Adopt, "adopt", false, "v1: adopt objects of the operator that exist and have no other owner, such as a CustomResourceDefinition with its custom resources; a ClusterExtension that is there gets leave to do so")
	i.failing.flags(flags)
	cmd.Flags().AddFlagSet(flags)
}

// check refuses what no ClusterExtension says, before a cluster is asked.
func (i *extensionInstall) check(both bothAPIs) error {
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
	return nil
}

// run creates the ClusterExtension and waits until it is installed.
func (i *extensionInstall) run(ctx context.Context, s command.Streams, c client.Client, both bothAPIs) error {
	o, err := i.asked(s, both)
	if err != nil {
		return err
	}
	there, err := o.AdoptsInto(ctx, c)
	switch {
	case err != nil:
		err = kubeconfig.Explain(err)
	case i.image != "": // after all that costs less
		err = i.fromImage(ctx, s, c, both, &o)
	case !there:
		err = i.fromCatalogs(ctx, s, c, both, &o)
	}
	if err != nil {
		return err
	}
	asked, err := ops.InstallExtension(ctx, c, o)
	printer := both.Output.Progress(s)
	if asked.Adopting {
		asked.Notes = append(asked.Notes, fmt.Sprintf("ClusterExtension %s is there already: it may adopt what exists and has no other owner, and nothing else of it changes", asked.Extension.Name))
	}
	if done, err := both.created(s, printer, asked.Created, asked.Notes, asked.Extension, err); done {
		return err
	}
	if both.Wait > 0 {
		if asked.Extension, err = i.wait(ctx, c, asked.Extension.Name, both, printer); err != nil {
			return err
		}
	}
	return both.Output.Write(s.Out, asked.Extension, func(io.Writer) error { return nil })
}

// asked is what the flags ask for.
func (i *extensionInstall) asked(s command.Streams, both bothAPIs) (o ops.ExtensionOptions, err error) {
	o = i.options
	o.Package, o.Namespace, o.Watch, o.DryRun = both.Package, both.Namespace, both.Watch, both.DryRun
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
	o.ProgressDeadlineMinutes = int32(i.failing.deadline / time.Minute)
	if i.failing.deadline == 0 && i.failing.rollback {
		o.ProgressDeadlineMinutes = revision.RollbackDeadlineMinutes
	}
	if i.config != "" {
		o.Config, err = readConfig(s, i.config)
	}
	return o, err
}

// fromImage has the bundle of an image installed. What the cluster lacks is said before anything is pulled.
func (i *extensionInstall) fromImage(ctx context.Context, s command.Streams, c client.Client, both bothAPIs, o *ops.ExtensionOptions) error {
	o.Image = i.image
	if o.Namespace != "" {
		if err := o.Place(ctx, c); err != nil {
			return kubeconfig.Explain(err)
		}
	}
	var b *bundle.Bundle
	var err error
	if o.Image, o.Package, b, err = chosenImage(ctx, s, i.image, both.Package); err != nil {
		return err
	}
	there, err := o.AdoptsInto(ctx, c) // of the name that the package gives it
	if err != nil || there {
		return kubeconfig.Explain(err)
	}
	suggested := ""
	if b != nil && b.CSV != nil {
		suggested = preview.SuggestedNamespace(b.CSV.Annotations)
	}
	o.Namespace = both.place(s, suggested)
	return nil
}

// fromCatalogs looks up what is asked for in the ClusterCatalogs that are selected.
func (i *extensionInstall) fromCatalogs(ctx context.Context, s command.Streams, c client.Client, both bothAPIs, o *ops.ExtensionOptions) error {
	selected, err := o.Selected(ctx, c)
	if err != nil {
		return kubeconfig.Explain(fmt.Errorf("install package %s: %w", o.Package, err))
	}
	var offer preview.Offer
	if len(selected) > 0 {
		asked := preview.Asked{Package: o.Package, Channels: o.Channels, Version: o.Version, OneFirst: true}
		offer, err = both.lookUp(ctx, s, asked, selected, func(ctx context.Context, cluster preview.BrowseCluster, pkg string) (preview.Answer, error) {
			return cluster.V1(ctx, pkg)
		})
	}
	o.DefaultChannel, o.Namespace = offer.Channel, both.Namespace
	if err == nil {
		o.Namespace = both.place(s, offer.Namespace)
	}
	return err
}

// wait waits until the extension is installed and works, and says what was installed.
func (i *extensionInstall) wait(ctx context.Context, c client.Client, name string, both bothAPIs, printer *command.ProgressPrinter) (*olmv1.ClusterExtension, error) {
	waiting, cancel := context.WithTimeout(ctx, both.Wait)
	defer cancel()
	e, err := ops.WaitExtension(waiting, c, name, func(_, message string) { printer.Waiting(message) })
	if err != nil {
		see := "To see the cause: fairlead plan " + name
		if stopped := (*ops.StoppedError)(nil); errors.As(err, &stopped) && resolution.IsReason(stopped.Reason) {
			see = "To see what to do: fairlead why " + name
		}
		return nil, ended(printer, err, fmt.Sprintf("The ClusterExtension stays, and the operator is installed when the cause is gone. %s. To give up: fairlead uninstall %s", see, name))
	}
	summary, err := ops.SummarizeExtension(ctx, c, e)
	if err != nil {
		return nil, kubeconfig.Explain(err)
	}
	printer.Done("installed %s", summary)
	return e, nil
}

// The bounds of spec.progressDeadlineMinutes.
const (
	minDeadline = 10 * time.Minute
	maxDeadline = 720 * time.Minute
)

// failing is when a rollout counts as failed, and what comes of that: two flags of install and upgrade.
type failing struct {
	rollback bool
	deadline time.Duration
}

func (f *failing) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.rollback, "rollback-on-failure", false, fmt.Sprintf("v1: go back to what was installed when an upgrade fails; one that takes longer than --progress-deadline, by default %d minutes then, has", revision.RollbackDeadlineMinutes))
	flags.DurationVar(&f.deadline, "progress-deadline", 0, "v1: how long a rollout may take before it counts as failed, in whole minutes from 10m to 12h (default: no limit)")
}

// check refuses what the API server would.
func (f *failing) check() error {
	if d := f.deadline; d != 0 && (d < minDeadline || d > maxDeadline || d%time.Minute != 0) {
		return fmt.Errorf("--progress-deadline %s: give whole minutes from %s to %s", d, minDeadline, maxDeadline)
	}
	return nil
}

// readConfig reads the configuration of an operator from a file; - is standard input.
func readConfig(s command.Streams, file string) (map[string]any, error) {
	in, err := s.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, ops.MaxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration from %s: %w", file, err)
	}
	config, err := ops.ReadConfig(text)
	if err != nil {
		return nil, fmt.Errorf("read the configuration from %s: %w", file, err)
	}
	return config, nil
}
