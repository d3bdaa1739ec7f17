package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/ops/preview"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// migration is `fairlead migrate`: what its flags say.
type migration struct {
	command.Change
	cluster     kubeconfig.Flags
	preferences migrate.Preferences
	backups     string
	again       string // what the flags say of the cluster and the backup, for the commands that are printed
	undo        bool
	timeout     time.Duration
}

const migrateHelp = `Make a ClusterExtension of an operator that a Subscription has installed, without touching its workloads: pods are not restarted, and
Deployments are not rolled out. First everything is listed that is adopted, added and removed, what differs, and what is in the way; then it
is asked.

Before anything is changed, all of it is kept in a Secret. --undo NAME takes a migration back: NAME is the ClusterExtension,
and the Subscription and the ClusterServiceVersion come back, again without touching workloads, as long as the ClusterExtension has not been
upgraded or configured otherwise.

Either way, a command that was cut short is gone on with by the same command.

Exit code 0: it is done, or --dry-run has shown it. 3: nothing was done, because something is in the way, or you did not say yes. 1: something
went wrong, which the error tells. 2: wrong usage.`

func newMigrateCommand(s command.Streams) *cobra.Command {
	m := migration{Change: command.Change{Streams: s}}
	cmd := &cobra.Command{
		Use:   "migrate SUBSCRIPTION | migrate --undo EXTENSION",
		Short: "Make a ClusterExtension of an installed Subscription in place, or take that back",
		Long:  migrateHelp,
		Example: `  fairlead migrate etcd -n operators --dry-run
  fairlead migrate etcd -n operators --catalog operatorhub --yes
  fairlead migrate --undo etcd`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, flag := range []string{"name", "catalog"} {
				if m.undo && cmd.Flags().Changed(flag) {
					return command.UsageError{Err: fmt.Errorf("--%s says what to make, and --undo takes it back: leave one of them out", flag)}
				}
			}
			if err := m.Check(); err != nil {
				return err
			}
			if m.preferences.Catalog != "" {
				named, err := preview.ParseClusterCatalogs(m.preferences.Catalog)
				if err == nil && (len(named) > 1 || named[0].Ref.Namespace != "") {
					err = fmt.Errorf("--catalog %q: write the name of one ClusterCatalog, which has no namespace", m.preferences.Catalog)
				}
				if err != nil {
					return command.UsageError{Err: err}
				}
			}
			m.again = repeated(cmd.Flags())
			return kubeconfig.Explain(m.run(cmd.Context(), args[0]))
		},
	}
	m.cluster.AddCluster(cmd.Flags())
	m.cluster.AddNamespace(cmd.Flags())
	m.Flags(cmd, "only show what would be done")
	flags := cmd.Flags()
	flags.StringVar(&m.preferences.Name, "name", "", "name of the ClusterExtension (default: that of the package)")
	flags.StringVar(&m.preferences.Catalog, "catalog", "", "NAME of the ClusterCatalog that has the package (default: any)")
	flags.StringVar(&m.backups, "backup-namespace", manager.DefaultGlobalNamespace, "namespace of the Secret with the backup; only administrators of the cluster should be able to write there")
	flags.BoolVar(&m.undo, "undo", false, "take the migration of a ClusterExtension back")
	flags.DurationVar(&m.timeout, "timeout", 5*time.Minute, "how long to wait until it is done")
	return cmd
}

// repeated are the flags that a command has to repeat to be about the same cluster and the same backup; it begins with a space.
func repeated(flags *pflag.FlagSet) string {
	var text string
	for _, f := range append([]*pflag.Flag{flags.Lookup("backup-namespace")}, kubeconfig.Connection(flags)...) {
		if !f.Changed || f.Value.String() == f.DefValue || kubeconfig.IsSecret(f) {
			continue
		}
		values := []string{f.Value.String()}
		if many, is := f.Value.(pflag.SliceValue); is {
			values = many.GetSlice()
		}
		between := " "
		if f.NoOptDefVal != "" { // what follows a switch is no value of it
			between = "="
		}
		for _, value := range values {
			text += " --" + f.Name + between + preview.Quoted(value)
		}
	}
	return text
}

func (m *migration) run(ctx context.Context, name string) error {
	p := &extensionPlan{streams: m.Streams, cluster: m.cluster}
	r, err := p.reach()
	if err != nil {
		return err
	}
	q, err := r.question(ctx)
	if err != nil {
		return err
	}
	return withLibrary(ctx, m.Streams, func(library *preview.Library) error {
		return m.move(ctx, r.client, q, library, client.ObjectKey{Namespace: r.namespace, Name: name})
	})
}

// move plans what is asked for and does it: a Subscription becomes a ClusterExtension, or the ClusterExtension of the name is given back.
func (m *migration) move(ctx context.Context, c client.Client, q *preview.Question, library *preview.Library, key client.ObjectKey) error {
	planner := preview.Planner{Client: c, Library: library, Fetch: library.Fetch}
	mover := &ops.Mover{Client: c, Namespace: m.backups, Flags: m.again, Render: func(ctx context.Context, e *olmv1.ClusterExtension) (string, []*unstructured.Unstructured, []string, error) {
		first, err := planner.First(ctx, q, e)
		if err != nil {
			return "", nil, nil, err
		}
		return first.Bundle, first.Objects, first.Blocked, nil
	}}
	if m.undo {
		v, err := mover.Find(ctx, key.Name)
		if err != nil {
			return err
		}
		question := fmt.Sprintf("Give the operator of ClusterExtension %s back to Subscription %s?", key.Name, v.Subscription)
		after := fmt.Sprintf("Subscription %s has its operator back", v.Subscription)
		if v.Unbegun {
			question = fmt.Sprintf("End the migration of Subscription %s, which took nothing over?", v.Subscription)
			after = fmt.Sprintf("Secret %s is deleted; nothing of Subscription %s had been adopted", v.BackupSecret, v.Subscription)
		}
		return m.act(ctx, v, v.WriteBack, question, mover.Undo, after)
	}
	v, err := mover.Plan(ctx, key, m.preferences)
	if err != nil {
		return err
	}
	if v.Done {
		fmt.Fprintf(m.Out, "Subscription %s is ClusterExtension %s already; to take that back: fairlead migrate --undo %[2]s%[3]s\n", key, v.Extension.Name, m.again)
		return nil
	}
	return m.act(ctx, v, v.Write, fmt.Sprintf("Make ClusterExtension %s of Subscription %s?", v.Extension.Name, v.Subscription), mover.Run,
		fmt.Sprintf("ClusterExtension %s has the operator; to take that back: fairlead migrate --undo %[1]s%[2]s", v.Extension.Name, m.again))
}

// act shows a move, asks, and makes it.
func (m *migration) act(ctx context.Context, v *ops.Move, text func(io.Writer) error, question string, do func(context.Context, *ops.Move, func(string)) error, after string) error {
	if err := m.Output.Write(m.Out, v, text); err != nil {
		return err
	}
	if len(v.Refused) > 0 {
		return command.ExitError{Code: command.ExitNo}
	}
	if m.DryRun {
		return nil
	}
	if err := m.Ask(question, "Nothing was changed."); err != nil {
		return err
	}
	printer := m.Output.Progress(m.Streams)
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	err := do(ctx, v, func(what string) { printer.Done("%s", what) })
	var stale *ops.StaleError
	if errors.As(err, &stale) {
		fmt.Fprintln(m.Err, err)
		return command.ExitError{Code: command.ExitNo}
	}
	if err != nil {
		return fmt.Errorf("%w\nWhat was done is listed above, and Secret %s has what there was before. The same command continues from here; to take it back: fairlead migrate --undo %s%s",
			err, v.BackupSecret, v.Extension.Name, m.again)
	}
	printer.Done("%s", after)
	return nil
}
