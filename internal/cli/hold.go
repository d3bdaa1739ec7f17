package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

const holdHelp = `Hold the upgrades of an operator: what is installed stays and is looked after, and nothing newer begins until fairlead unhold.

NAME is a Subscription of the namespace or a ClusterExtension. Its upgrade window becomes "never", and the one that it had is kept for unhold. An upgrade that
has begun is finished. A version that a person approves, or lets through with the annotation operators.fairlead.dev/upgrade-now, is not held.`

func newHoldCommand(s command.Streams) *cobra.Command {
	var reason string
	cmd := holding(s, "held", "nothing to change: it is held already", func(cmd *cobra.Command, c client.Client, o client.Object, key client.ObjectKey, dryRun bool) (bool, error) {
		return ops.Hold(cmd.Context(), c, o, key, reason, dryRun)
	})
	cmd.Use, cmd.Short, cmd.Long = "hold NAME", "Hold the upgrades of an operator until unhold", holdHelp
	cmd.Example = `  fairlead hold etcd -n operators --reason 'wait for 3.6.1, see INC-1234'
  fairlead hold my-extension`
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who read it later")
	return cmd
}

func newUnholdCommand(s command.Streams) *cobra.Command {
	cmd := holding(s, "released", "nothing to change: it is not held by fairlead hold", func(cmd *cobra.Command, c client.Client, o client.Object, key client.ObjectKey, dryRun bool) (bool, error) {
		return ops.Release(cmd.Context(), c, o, key, dryRun)
	})
	cmd.Use, cmd.Short = "unhold NAME", "Let the upgrades of an operator begin again"
	cmd.Long = "Let the upgrades of an operator begin again that fairlead hold has held, in the upgrade window that it had before."
	cmd.Example = "  fairlead unhold etcd -n operators"
	return cmd
}

// holding makes a command that changes whether the upgrades of something are held.
func holding(s command.Streams, done, nothing string, do func(cmd *cobra.Command, c client.Client, o client.Object, key client.ObjectKey, dryRun bool) (bool, error)) *cobra.Command {
	var t target
	var dryRun bool
	cmd := &cobra.Command{
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.check(); err != nil {
				return err
			}
			c, namespace, api, err := t.connect(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			var o client.Object = &v1alpha1.Subscription{}
			key, what := client.ObjectKey{Namespace: namespace, Name: args[0]}, "Subscription "+namespace+"/"+args[0]
			if api == apiV1 {
				o, key.Namespace, what = &olmv1.ClusterExtension{}, "", "ClusterExtension "+args[0]
			}
			changed, err := do(cmd, c, o, key, dryRun)
			switch {
			case err != nil:
				return kubeconfig.Explain(err)
			case !changed:
				fmt.Fprintf(s.Out, "%s: %s\n", what, nothing)
			case dryRun:
				fmt.Fprintf(s.Out, "%s: would be %s\n", what, done)
			default:
				fmt.Fprintf(s.Out, "%s: %s\n", what, done)
			}
			return nil
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "let the API server check the change, and write nothing")
	return cmd
}
