package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

// upgrade is `fairlead upgrade`: what its flags say.
type upgrade struct {
	streams     command.Streams
	version     string
	channel     string
	policy      string
	safety      string
	acknowledge string
	image       string
	failing     failing
	approve     bool
	dryRun      bool
	wait        time.Duration
}

const upgradeHelp = `Change what an operator asks for, and wait until it has it.

NAME is a ClusterExtension: --version, --channel and --upgrade-constraint-policy say what it asks for from now on; an empty value
removes a request. --image has the bundle of an image installed, whatever catalogs have. Without any of them, an extension that fairlead rollback has set back follows its catalogs again.

Or NAME is a Subscription of the namespace: --channel changes its channel, and --approve approves the InstallPlan that waits for that.

What would be installed is told before by fairlead resolve and fairlead why-not, what would change by fairlead plan.`

// v1Upgrade are the flags that say something about ClusterExtensions alone.
var v1Upgrade = []string{"version", "upgrade-constraint-policy", "crd-upgrade-safety", "acknowledge-permissions", "image", "rollback-on-failure", "progress-deadline"}

func newUpgradeCommand(s command.Streams) *cobra.Command {
	u := upgrade{streams: s}
	var t target
	cmd := &cobra.Command{
		Use:   "upgrade NAME",
		Short: "Upgrade an operator: choose its version or channel, or approve what waits",
		Long:  upgradeHelp,
		Example: `  fairlead upgrade etcd --version '>=0.10.0 <0.11.0'
  fairlead upgrade etcd -n operators --approve`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(); err != nil {
				return err
			}
			if p := u.policy; p != "" && p != "CatalogProvided" && p != "SelfCertified" {
				return command.UsageError{Err: fmt.Errorf("--upgrade-constraint-policy %q: choose CatalogProvided or SelfCertified", p)}
			}
			if err := u.failing.check(); err != nil {
				return command.UsageError{Err: err}
			}
			c, namespace, api, err := t.connect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if api == apiV1 {
				return u.extension(cmd, c, args[0])
			}
			return u.subscription(cmd, c, client.ObjectKey{Namespace: namespace, Name: args[0]})
		},
	}
	t.flags(cmd)
	u.flags(cmd)
	return cmd
}

func (u *upgrade) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&u.version, "version", "", "v1: version or range of versions, such as 1.2.0 or '>=1.2.0 <2.0.0'; '' for any")
	flags.StringVar(&u.channel, "channel", "", "channel to follow; v1 also several, joined by commas; '' for any")
	flags.StringVar(&u.policy, "upgrade-constraint-policy", "", "v1: CatalogProvided or SelfCertified")
	flags.StringVar(&u.safety, "crd-upgrade-safety", "", "v1: Strict or None")
	flags.StringVar(&u.acknowledge, "acknowledge-permissions", "", "v1: digest of the added permissions that you agree to, as the status of the ClusterExtension names it")
	flags.StringVar(&u.image, "image", "", "v1: image with the bundle to have, whatever catalogs have; '' lets them decide again")
	u.failing.flags(flags)
	flags.BoolVar(&u.approve, "approve", false, "v0: approve the InstallPlan that waits for that")
	flags.BoolVar(&u.dryRun, "dry-run", false, "let the API server check the change, show it, and write nothing")
	flags.DurationVar(&u.wait, "wait", 5*time.Minute, "how long to wait until it is upgraded; 0 not at all")
}

func (u *upgrade) extension(cmd *cobra.Command, c client.Client, name string) error {
	if u.approve {
		return command.UsageError{Err: fmt.Errorf("--approve is for Subscriptions, and %s is a ClusterExtension: leave it out", name)}
	}
	changed := cmd.Flags().Changed
	given := func(flag string, value *string) *string {
		if !changed(flag) {
			return nil
		}
		return value
	}
	change := ops.ExtensionChange{Version: given("version", &u.version), Policy: given("upgrade-constraint-policy", &u.policy), CRDSafety: given("crd-upgrade-safety", &u.safety),
		Acknowledge: given("acknowledge-permissions", &u.acknowledge), Resume: ops.HistoryVersion, Annotations: ops.RollForward, DryRun: u.dryRun}
	if changed("rollback-on-failure") {
		change.Rollback = &u.failing.rollback
	}
	if changed("progress-deadline") {
		minutes := int32(u.failing.deadline / time.Minute)
		change.ProgressDeadlineMinutes = &minutes
	}
	if changed("channel") {
		var channels []string
		if u.channel != "" {
			channels = strings.Split(u.channel, ",")
		}
		change.Channels = &channels
	}
	ctx := cmd.Context()
	if changed("image") {
		change.Image = new(string) // empty lets catalogs decide
		if u.image != "" {
			e := &olmv1.ClusterExtension{}
			if err := c.Get(ctx, client.ObjectKey{Name: name}, e); err != nil {
				return kubeconfig.Explain(fmt.Errorf("read ClusterExtension %s: %w", name, err))
			}
			pkg := ""
			if e.Spec.Source.Catalog != nil {
				pkg = e.Spec.Source.Catalog.PackageName
			}
			var err error
			if *change.Image, _, _, err = chosenImage(ctx, u.streams, u.image, pkg); err != nil {
				return err
			}
		}
	}
	_, said, err := ops.ChangeExtension(ctx, c, name, change)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	if !u.tell(said, "ClusterExtension "+name) {
		return nil
	}
	return waitExtension(ctx, u.streams, c, name, u.wait)
}

// waitExtension waits until a ClusterExtension that was changed has what it asks for.
func waitExtension(ctx context.Context, s command.Streams, c client.Client, name string, wait time.Duration) error {
	printer := command.Progress(s.Out)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	e, err := ops.WaitExtension(ctx, c, name, func(_, message string) { printer.Waiting(message) })
	if err != nil {
		printer.Forget()
		return fmt.Errorf("%w\nWhat was installed stays, and the upgrade continues when the cause is gone. To go back: fairlead rollback %s", err, name)
	}
	if e.Status.Install != nil {
		printer.Done("%s is installed and works", e.Status.Install.Bundle.Name)
	}
	if held := ops.Stand(e).Held; held != "" {
		printer.Note("%s", held)
	}
	return nil
}

func (u *upgrade) subscription(cmd *cobra.Command, c client.Client, key client.ObjectKey) error {
	for _, flag := range v1Upgrade {
		if cmd.Flags().Changed(flag) {
			return command.UsageError{Err: fmt.Errorf("--%s is for ClusterExtensions, and there is none named %s: leave it out, or correct the name", flag, key.Name)}
		}
	}
	change := ops.SubscriptionChange{Approve: u.approve, DryRun: u.dryRun}
	if cmd.Flags().Changed("channel") {
		change.Channel = &u.channel
	}
	ctx := cmd.Context()
	said, waits, err := ops.ChangeSubscription(ctx, c, key, change)
	if err != nil {
		return kubeconfig.Explain(err)
	}
	if waits != "" {
		u.tell(said, "Subscription "+key.String())
		approvable(u.streams, waits, key)
		return nil
	}
	if !u.tell(said, "Subscription "+key.String()) {
		return nil
	}
	return waitSubscription(ctx, u.streams, c, key, u.wait)
}

// waitSubscription waits until a Subscription that was changed, or its plan approved, has what it asks for.
func waitSubscription(ctx context.Context, s command.Streams, c client.Client, key client.ObjectKey, wait time.Duration) error {
	printer := command.Progress(s.Out)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	csv, err := ops.WaitUpgrade(ctx, c, key, func(_, message string) { printer.Waiting(message) })
	var plan *ops.WaitsError
	if errors.As(err, &plan) {
		printer.Forget()
		approvable(s, plan.Plan, key)
		return nil
	}
	var held *ops.HeldError
	if errors.As(err, &held) {
		printer.Note("%s", held.Message)
		return nil
	}
	if err != nil {
		printer.Forget()
		return fmt.Errorf("%w\nWhat was installed stays, and the upgrade continues when the cause is gone", err)
	}
	printer.Done("%s is installed and running", csv)
	return nil
}

// approvable prints a plan that waits for a user to approve it.
func approvable(s command.Streams, plan string, key client.ObjectKey) {
	fmt.Fprintf(s.Out, "%s, waits for approval: see it with fairlead plan show, and approve it with: %s\n", plan, ops.ApproveCommand(key))
}

// tell says what has changed, or would, and whether there is something to wait for.
func (u *upgrade) tell(said []string, what string) bool {
	verb := "changed"
	if u.dryRun {
		verb = "would change"
	}
	for _, line := range said {
		fmt.Fprintf(u.streams.Out, "%s %s: %s\n", verb, what, line)
	}
	if len(said) == 0 {
		fmt.Fprintf(u.streams.Out, "%s: nothing to change\n", what)
	}
	return !u.dryRun && u.wait > 0
}
