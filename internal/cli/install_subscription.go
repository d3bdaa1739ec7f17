package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/preview"

	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// subscriptionInstall is `fairlead install` by the v0 API: what its flags say, besides those that both APIs have.
type subscriptionInstall struct{ options ops.InstallOptions }

// flags adds the flags of the v0 API.
func (i *subscriptionInstall) flags(flags *pflag.FlagSet) {
	o := &i.options
	flags.StringVar(&o.StartingCSV, "starting-csv", "", "version to install first (default: the channel's newest)")
	globalNamespaceFlag(flags, &o.GlobalNamespace)
	flags.BoolVar(&o.Manual, "manual", false, "ask for approval before anything is installed or upgraded")
}

// run creates the Subscription and waits until its operator runs.
func (i *subscriptionInstall) run(ctx context.Context, s command.Streams, c client.Client, both bothAPIs) error {
	o := i.options
	o.Package, o.Channel, o.Catalog, o.Targets, o.DryRun = both.Package, both.Channel, both.Catalog, both.Watch, both.DryRun
	offer, modes, err := i.offer(ctx, s, both)
	if err != nil {
		return err
	}
	o.DefaultChannel, o.Namespace = offer.Channel, both.place(s, offer.Namespace)
	o.Offered, o.Modes = offer.Sources(), modes
	if len(o.Offered) == 1 && o.Catalog == "" {
		o.Catalog = o.Offered[0]
	}
	asked, err := ops.InstallPackage(ctx, c, o)
	printer := both.Output.Progress(s)
	if done, err := both.created(s, printer, asked.Created, asked.Notes, asked.Subscription, err); done {
		return err
	}
	key := client.ObjectKeyFromObject(asked.Subscription)
	if both.Wait > 0 {
		if err := i.wait(ctx, c, key, both, printer); err != nil {
			return err
		}
	}
	if both.Output == command.OutputText {
		return nil
	}
	if err := c.Get(ctx, key, asked.Subscription); err != nil {
		return kubeconfig.Explain(fmt.Errorf("get Subscription %s: %w", key, err))
	}
	return both.Output.Write(s.Out, asked.Subscription, func(io.Writer) error { return nil })
}

// offer looks up what is asked for in the catalogs in view, with the install modes that it has as far as these tell.
func (i *subscriptionInstall) offer(ctx context.Context, s command.Streams, both bothAPIs) (offer preview.Offer, modes []string, err error) {
	asked := preview.Asked{Package: both.Package, Starting: i.options.StartingCSV, OneCatalog: both.Catalog == ""}
	if both.Channel != "" {
		asked.Channels = []string{both.Channel}
	}
	var only []string
	if both.Catalog != "" {
		only = []string{both.Catalog}
	}
	offer, err = both.lookUp(ctx, s, asked, only, func(ctx context.Context, cluster preview.BrowseCluster, pkg string) (preview.Answer, error) {
		return cluster.InView(ctx, i.options.GlobalNamespace, pkg)
	})
	return offer, offer.Modes(asked), err
}

// wait waits until the operator runs, and says what was installed. A plan that waits for approval is what --manual asks for.
func (i *subscriptionInstall) wait(ctx context.Context, c client.Client, key client.ObjectKey, both bothAPIs, printer *command.ProgressPrinter) error {
	waiting, cancel := context.WithTimeout(ctx, both.Wait)
	defer cancel()
	_, err := ops.WaitPackage(waiting, c, key, func(_, message string) { printer.Waiting(message) })
	var approval *ops.WaitsError
	var stopped *ops.StoppedError
	switch {
	case errors.As(err, &approval):
		printer.Forget()
		if !i.options.Manual {
			return command.NoError{Err: err}
		}
		printer.Done("%s, waits for approval: %s", approval.Plan, ops.ApproveCommand(key))
		return nil
	case err != nil:
		see := fmt.Sprintf("fairlead status %s -n %s", key.Name, key.Namespace)
		if errors.As(err, &stopped) && stopped.Reason == "ResolutionFailed" {
			see = fmt.Sprintf("fairlead why %s -n %s", key.Name, key.Namespace)
		}
		return ended(printer, err, fmt.Sprintf("The Subscription stays, and the operator is installed when the cause is gone. To see the cause: %s. To give up: fairlead uninstall %s -n %s",
			see, key.Name, key.Namespace))
	}
	summary, err := ops.SummarizePackage(ctx, c, key)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	printer.Done("installed %s", summary)
	return nil
}
