package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/rollout"
)

// releasedImage is the image of the manager that was published with this program. A release sets it: -ldflags '-X fairlead.dev/fairlead/internal/cli.releasedImage=IMAGE'.
var releasedImage string

// systemTimeout is how long the manager may take until it is available, where nothing else is said.
const systemTimeout = 5 * time.Minute

func newSystemCommand(s command.Streams) *cobra.Command {
	return command.Group("system", "Install the manager into a cluster, upgrade and remove it", newSystemInstallCommand(s), newSystemUpgradeCommand(s), newSystemUninstallCommand(s))
}

// systemFlags are the flags of the commands that apply the manager.
type systemFlags struct {
	command.Streams
	kubeconfig     kubeconfig.Flags
	output         command.Output
	options        ops.SystemOptions
	dryRun         bool
	wait           time.Duration
	allowDowngrade bool
}

func (f *systemFlags) add(cmd *cobra.Command) {
	f.kubeconfig.AddCluster(cmd.Flags())
	f.output.Flag(cmd)
	flags := cmd.Flags()
	image := "the one that was published with this fairlead: " + releasedImage
	if releasedImage == "" {
		image = "required: this fairlead knows of no published one"
	}
	flags.StringVar(&f.options.Image, "image", releasedImage, "image of the manager ("+image+")")
	flags.Lookup("image").DefValue = ""
	flags.StringVar(&f.options.Namespace, "manager-namespace", manager.DefaultGlobalNamespace, "namespace of the manager, and of the catalogs that all namespaces see")
	flags.Int32Var(&f.options.Replicas, "replicas", 2, "how many pods there are, of which one works")
	flags.BoolVar(&f.options.Console, "console", false, "have the manager serve the web console as well")
	flags.StringSliceVar(&f.options.APIs, "apis", []string{"v0", "v1"}, "the APIs that the manager works on")
	flags.StringArrayVar(&f.options.Args, "manager-arg", nil, "one more flag of the manager, such as --manager-arg=--catalog-pods (may be repeated)")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only print the manifests that would be applied, in their order")
	flags.DurationVar(&f.wait, "wait", systemTimeout, "how long to wait until the manager is available; 0 not at all")
}

// check refuses what cannot be meant, before a cluster is asked.
func (f *systemFlags) check() error {
	if f.options.Image == "" {
		return command.UsageError{Err: fmt.Errorf("--image is missing: this fairlead (%s) knows of no published image of the manager; name yours, such as --image registry.example.com/fairlead-manager:v1 (docs/releasing.md says how to make one)", built().Fairlead)}
	}
	f.options.Version = built().Fairlead
	if err := f.options.Check(); err != nil {
		return command.UsageError{Err: err}
	}
	return f.output.Check()
}

const systemInstallHelp = `Install the manager into the cluster of the kubeconfig, from the manifests that this program has embedded: those of the Helm chart and of
kubectl apply -k config. First the CustomResourceDefinitions, then namespaces, rights, the admission policies of the v1 API, and the manager; then it is waited for
until it is available.

An installation that was interrupted is finished by the same command. Refused is a cluster on whose APIs another lifecycle manager works, and one that has a manager of
another version, which 'fairlead system upgrade' brings up to date. Namespaces, the OLMConfig and OperatorGroups that are there are left as they are.

With --dry-run no cluster is asked.

Exit code 0: it is installed and available. 3: it was refused, and nothing was changed. 1: something went wrong; the error says what, and the same command continues from
there. 2: wrong usage.`

func newSystemInstallCommand(s command.Streams) *cobra.Command {
	f := systemFlags{Streams: s}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the manager into a cluster",
		Long:  systemInstallHelp,
		Example: `  fairlead system install --image registry.example.com/fairlead-manager:v1
  fairlead system install --image registry.example.com/fairlead-manager:v1 --console --dry-run`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.dryRun {
				objects, err := ops.SystemManifests(f.options)
				if err != nil {
					return err
				}
				return f.print(objects)
			}
			return f.change(cmd.Context(), "installed", func(ctx context.Context, c client.Client) (*ops.SystemChange, error) {
				return ops.InstallSystem(ctx, c, f.options)
			})
		},
	}
	f.add(cmd)
	return cmd
}

const systemUpgradeHelp = `Bring the manager of the cluster up to the version of this program, with the options that it was installed with; flags change them. A manager that was
installed with kubectl is adopted. Objects that an earlier version had, and this one has not, are removed when the new manager is available: those alone that
'fairlead system' has made.

A downgrade is refused, with what it would lose: fields and versions of the CustomResourceDefinitions of the cluster that this program does not have.

Exit code 0: it is upgraded and available. 3: it was refused, and nothing was changed. 1: something went wrong; the error says what, and the same command continues from
there. 2: wrong usage.`

func newSystemUpgradeCommand(s command.Streams) *cobra.Command {
	f := systemFlags{Streams: s}
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Bring the manager of a cluster up to the version of this program",
		Long:  systemUpgradeHelp,
		Example: `  fairlead system upgrade --image registry.example.com/fairlead-manager:v2
  fairlead system upgrade --image registry.example.com/fairlead-manager:v2 --dry-run`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			changed := func(o *ops.SystemOptions) {
				o.Image, o.Version = f.options.Image, f.options.Version
				for flag, set := range map[string]func(){
					"replicas": func() { o.Replicas = f.options.Replicas }, "console": func() { o.Console = f.options.Console },
					"apis": func() { o.APIs = f.options.APIs }, "manager-arg": func() { o.Args = f.options.Args },
				} {
					if cmd.Flags().Changed(flag) {
						set()
					}
				}
			}
			return f.change(cmd.Context(), "upgraded", func(ctx context.Context, c client.Client) (*ops.SystemChange, error) {
				return ops.UpgradeSystem(ctx, c, f.options.Namespace, f.allowDowngrade, changed)
			})
		},
	}
	f.add(cmd)
	for flag, text := range map[string]string{"replicas": "how many pods there are, of which one works (default: as many as now)", "apis": "the APIs that the manager works on (default: as installed)"} {
		cmd.Flags().Lookup(flag).Usage, cmd.Flags().Lookup(flag).DefValue = text, ""
	}
	cmd.Flags().BoolVar(&f.allowDowngrade, "allow-downgrade", false, "go to an older version, and lose what it does not have")
	return cmd
}

// change decides on what is to be changed of the cluster of the kubeconfig, and does so, or prints it.
func (f *systemFlags) change(ctx context.Context, done string, decide func(context.Context, client.Client) (*ops.SystemChange, error)) error {
	c, _, err := f.kubeconfig.Connect()
	if err != nil {
		return err
	}
	change, err := decide(ctx, c)
	if err != nil {
		return refusal(err)
	}
	if f.dryRun {
		f.tell(command.Progress(f.Err), change)
		return f.print(change.Objects)
	}
	return f.run(ctx, change, done)
}

// refusal gives an error of a command its exit code, and adds what to do about a cluster that does not answer.
func refusal(err error) error {
	var refused *ops.RefusedError
	switch {
	case errors.As(err, &refused):
		return command.NoError{Err: err}
	case rollout.IsUnknownKind(err):
		return err // it names the kind
	}
	return kubeconfig.Explain(err)
}

// print prints manifests: as a list for programs that ask for JSON, and otherwise as YAML documents.
func (f *systemFlags) print(objects []*unstructured.Unstructured) error {
	if f.output == command.OutputJSON {
		items := make([]any, len(objects))
		for i, o := range objects {
			items[i] = o.Object
		}
		return f.output.Write(f.Out, map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, nil)
	}
	var all bytes.Buffer
	for _, o := range objects {
		document, err := yaml.Marshal(o.Object)
		if err != nil {
			return fmt.Errorf("print %s %s: %w", o.GetKind(), o.GetName(), err)
		}
		all.WriteString("---\n")
		all.Write(document)
	}
	if _, err := command.Raw(f.Out).Write(all.Bytes()); err != nil {
		return fmt.Errorf("print the manifests: %w", err)
	}
	return nil
}

// tell shows what should be known of a change before it is made.
func (f *systemFlags) tell(printer *command.ProgressPrinter, change *ops.SystemChange) {
	for _, note := range change.Notes {
		printer.Note("%s", note)
	}
	for _, ref := range change.Goes {
		printer.Note("%s %s goes when the manager is available: this version has no use for it", ref.Kind, strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/"))
	}
}

// run makes a change, and says what it does.
func (f *systemFlags) run(ctx context.Context, change *ops.SystemChange, done string) error {
	printer := f.output.Progress(f.Streams)
	f.tell(printer, change)
	result, err := change.Run(ctx, f.wait, func(what string) { printer.Done("%s", what) }, once(printer))
	if err != nil {
		printer.Forget()
		return refusal(err)
	}
	return f.output.Write(f.Out, result, func(w io.Writer) error {
		next := "To see whether all is well: fairlead doctor"
		if result.Namespace != manager.DefaultGlobalNamespace {
			next += " --manager-namespace " + result.Namespace
		}
		if !result.Available {
			next = "It was not waited for. " + next
		}
		_, err := fmt.Fprintf(w, "\nThe manager is %s in namespace %s, with image %s.\n%s\nTo add a catalog of operators: fairlead catalog add NAME IMAGE\n", done, result.Namespace, result.Image, next)
		return err
	})
}

// once shows what is waited for, each time that it is something else.
func once(printer *command.ProgressPrinter) func(string) {
	last := ""
	return func(text string) {
		if text != last {
			last = text
			printer.Waiting(text)
		}
	}
}
