package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops/preview"
)

func newPlanCommand(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan [NAME]",
		Short: "Tell what would change for a ClusterExtension or a Subscription; show InstallPlans",
		Long:  planHelp,
		Example: `  fairlead plan etcd
  fairlead plan my-subscription -n operators
  fairlead plan etcd --diff
  fairlead plan -f extension.yaml -o json
  fairlead plan etcd --missing-roles | kubectl auth reconcile -f -
  fairlead plan show install-abcde -n operators`,
		Args: cobra.MaximumNArgs(1), // wrong usage is no plan that changes something, which exit code 2 says
	}
	plan := &extensionPlan{streams: s}
	plan.cluster.AddCluster(cmd.Flags())
	plan.cluster.AddNamespace(cmd.Flags())
	plan.output.Flag(cmd)
	cmd.Flags().StringVar(&plan.api, "api", "", "API that NAME is of: v0 or v1 (default: whichever has it)")
	cmd.Flags().StringVar(&plan.global, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see, for a Subscription")
	cmd.Flags().StringVarP(&plan.file, "filename", "f", "", "read the ClusterExtension from this file; - is standard input")
	cmd.Flags().StringArrayVar(&plan.catalogs, "catalog", nil, "read a ClusterCatalog or CatalogSource from somewhere else: "+preview.OfflineCatalogGrammar+" (may be repeated)")
	cmd.Flags().BoolVar(&plan.values, "diff", false, "show the values of changed fields, before and after")
	cmd.Flags().BoolVar(&plan.roles, "missing-roles", false, "print the roles that the service account lacks, as YAML for kubectl auth reconcile -f -, and nothing else")
	cmd.MarkFlagsMutuallyExclusive("diff", "missing-roles")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := plan.run(cmd.Context(), args)
		if wrong := (command.UsageError{}); errors.As(err, &wrong) {
			err = errors.New(err.Error()) // wrong usage is an error like others; what changes something has its code
		}
		return err
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return err })
	show := newPlanShowCommand(s)
	show.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return command.UsageError{Err: err} })
	cmd.AddCommand(show)
	return cmd
}

func newPlanShowCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var format command.Output
	var file string
	var contents planContents
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show the steps of an InstallPlan: how far each is, what it waits for, where it came from and why it failed",
		Long: `Show the steps of an InstallPlan, by the ClusterServiceVersions that they are for: how far each is, what it waits for, where it
came from and why it failed. With -f the plan is read from a file, as kubectl get -o yaml prints it, and no cluster is asked.

With --manifests the objects of the steps are shown, and in text nothing else. Those that are not in the plan itself are read from the
images of the bundles, with the credentials of your auth file, or from what --bundle names, and must have the digests that the plan names.`,
		Example: `  fairlead plan show install-abcde -n operators
  fairlead plan show install-abcde -n operators --manifests
  fairlead plan show install-abcde -f plan.yaml --manifests --bundle ./my-bundle`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			if len(contents.bundles) > 0 && !contents.wanted {
				return command.UsageError{Err: errors.New("--bundle says where manifests are read from: it needs --manifests")}
			}
			read := func() (*v1alpha1.InstallPlan, error) {
				name := args[0]
				c, namespace, err := k.Connect()
				if err != nil {
					return nil, err
				}
				plan := &v1alpha1.InstallPlan{}
				if err := c.Get(cmd.Context(), client.ObjectKey{Namespace: namespace, Name: name}, plan); err != nil {
					return nil, kubeconfig.Explain(fmt.Errorf("read InstallPlan %s/%s: %w", namespace, name, err))
				}
				return plan, nil
			}
			if file != "" {
				read = func() (*v1alpha1.InstallPlan, error) { return filedPlan(s, file, args[0]) }
			}
			plan, err := read()
			if err != nil {
				return err
			}
			view := preview.ViewPlan(plan)
			if !contents.wanted {
				return format.Write(s.Out, view, view.Write)
			}
			if err := contents.add(cmd.Context(), s, plan, &view); err != nil {
				return fmt.Errorf("InstallPlan %s/%s: %w", plan.Namespace, plan.Name, err)
			}
			return format.Write(s.Out, view, view.WriteManifests)
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	format.Flag(cmd)
	cmd.Flags().StringVarP(&file, "filename", "f", "", "read the InstallPlan from this file instead of a cluster; - is standard input")
	cmd.Flags().BoolVar(&contents.wanted, "manifests", false, "show the objects of the steps")
	cmd.Flags().StringArrayVar(&contents.bundles, "bundle", nil, "read a bundle of the plan from this directory or image instead of the image that the plan names; may be repeated")
	return cmd
}

// maxPlanFile bounds what is read of a file, in bytes. The API server keeps no object that comes near.
const maxPlanFile = 64 << 20

func filedPlan(s command.Streams, file, name string) (*v1alpha1.InstallPlan, error) {
	in, err := s.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read InstallPlan %s: %w", name, err)
	}
	defer in.Close()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(io.LimitReader(in, maxPlanFile)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read InstallPlan %s: %s has none of that name", name, file)
		}
		if err != nil {
			return nil, fmt.Errorf("read InstallPlan %s from %s: %w", name, file, err)
		}
		if plan, err := planIn(text, name); plan != nil || err != nil {
			return plan, err
		}
	}
}

// planIn returns the plan of a name that a document is, or that a list in it has; nil is none.
func planIn(text []byte, name string) (*v1alpha1.InstallPlan, error) {
	var head struct {
		Kind  string            `json:"kind"`
		Items []json.RawMessage `json:"items"`
	}
	text, err := catalog.ToJSON(text)
	if err == nil {
		err = json.Unmarshal(text, &head)
	}
	if err != nil {
		return nil, fmt.Errorf("read InstallPlan %s: %w", name, err)
	}
	for _, item := range head.Items {
		if plan, err := planIn(item, name); plan != nil || err != nil {
			return plan, err
		}
	}
	if head.Kind != v1alpha1.InstallPlanKind {
		return nil, nil
	}
	plan := &v1alpha1.InstallPlan{}
	if err := json.Unmarshal(text, plan); err != nil {
		return nil, fmt.Errorf("read InstallPlan %s: %w", name, err)
	}
	if plan.Name != name {
		return nil, nil
	}
	return plan, nil
}

// planContents are the flags of what is shown of the objects of a plan.
type planContents struct {
	wanted  bool
	bundles []string
}

// add reads the bundles that it takes to show the objects of the steps.
func (c *planContents) add(ctx context.Context, s command.Streams, plan *v1alpha1.InstallPlan, view *preview.PlanView) (err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	given := map[string]*bundle.Bundle{}
	for _, ref := range c.bundles {
		b, err := readBundle(ctx, r, ref)
		if err != nil {
			return err
		}
		given[b.Name] = b
	}
	return view.AddManifests(ctx, plan, func(ctx context.Context, lookup v1alpha1.BundleLookup) (*bundle.Bundle, error) {
		if b := given[lookup.Identifier]; b != nil {
			return b, nil
		}
		if lookup.Path == "" {
			return nil, fmt.Errorf("the InstallPlan names no image of bundle %s: name its directory or image by --bundle", lookup.Identifier)
		}
		err := bundleio.CheckImage(lookup.Path) // what a plan names is never a directory
		var b *bundle.Bundle
		if err == nil {
			b, err = readBundle(ctx, r, lookup.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("read bundle %s: %w; without that registry, name a directory or another image of it by --bundle", lookup.Identifier, err)
		}
		return b, nil
	})
}

func readBundle(ctx context.Context, r *bundleio.Renderer, ref string) (b *bundle.Bundle, err error) {
	source, err := bundleio.Open(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	return bundle.Load(source.FS)
}
