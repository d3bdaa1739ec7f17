package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// completionTime bounds how long a shell waits for names of a cluster or a catalog, whatever it is that does not answer: also while an API server is
// asked which kinds it has, and while a program of the kubeconfig is asked for credentials.
const completionTime = 2 * time.Second

// completer finds what a word of a command line may be. What it cannot find out, for whatever reason, it leaves out.
type completer func(ctx context.Context, cmd *cobra.Command, args []string, found func(names ...string))

// installed are what is installed by either API.
var installed = objects(kindSubscription, kindExtension)

// argumentsOf are what the first argument of commands may be, by their names below the root.
var argumentsOf = map[string]completer{
	"approve": installed, "history": installed, "hold": installed, "migrate": installed, "operands": installed, "plan": installed, "rollback": installed, "status": installed,
	"unhold": installed, "uninstall": installed, "upgrade": installed, "why": installed,
	"info": packages, "install": packages, "versions": packages, "why-not": packages,
	"trace": traceable, "catalog remove": objects(kindCatalogSource, kindCatalog), "plan show": objects(kindInstallPlan),
}

// flagsOf are what flags may be.
var flagsOf = map[string]completer{
	"namespace": objects(kindNamespace), "manager-namespace": objects(kindNamespace), "global-namespace": objects(kindNamespace),
	"channel": ofPackage(channelsOf), "version": ofPackage(versionsOf),
	"output": values("text", "json", "yaml"), "color": values("auto", "always", "never"), "api": values(apiV0, apiV1),
}

// values completes the values of a flag that has few.
func values(all ...string) completer {
	return func(_ context.Context, _ *cobra.Command, _ []string, found func(...string)) { found(all...) }
}

// complete lets shells complete names for a command and those below it.
func complete(root *cobra.Command, cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		complete(root, below)
	}
	name := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
	if find := argumentsOf[name]; find != nil && cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = find.first
	}
	register := func(f *pflag.Flag) {
		if find := flagsOf[f.Name]; find != nil && f.Value.Type() != "bool" {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, find.any) // one that a command has registered itself stays
		}
	}
	cmd.Flags().VisitAll(register)
	cmd.PersistentFlags().VisitAll(register)
}

// first completes the first argument alone.
func (find completer) first(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return find.any(cmd, args, begun)
}

func (find completer) any(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	all := slices.DeleteFunc(find.within(ctx, cmd, args), func(name string) bool { return !strings.HasPrefix(name, begun) })
	slices.SortFunc(all, safetext.Natural)
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	if len(all) == 1 && strings.HasSuffix(all[0], "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return slices.Compact(all), directive
}

// within is what is found until a context ends. The search itself may go on: not all that it waits for ends with a context.
func (find completer) within(ctx context.Context, cmd *cobra.Command, args []string) []string {
	var mu sync.Mutex
	var all []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		find(ctx, cmd, args, func(names ...string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, names...)
		})
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	return slices.Clone(all)
}

// connected is the cluster that the flags of a command line name, and the namespace; nil where there is none.
func connected(cmd *cobra.Command) (client.Client, string) {
	var k kubeconfig.Flags
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	k.AddCluster(flags)
	k.AddNamespace(flags)
	withTimeout(cmd, flags)
	c, namespace, err := k.Connect()
	if err != nil {
		return nil, ""
	}
	return c, namespace
}

// given sets flags as a command line has them.
func given(cmd *cobra.Command, flags *pflag.FlagSet) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if values, many := f.Value.(pflag.SliceValue); many {
			for _, value := range values.GetSlice() {
				_ = flags.Set(f.Name, value) // flags that others do not have are left out
			}
			return
		}
		_ = flags.Set(f.Name, f.Value.String())
	})
}

// withTimeout sets flags as a command line has them, and the timeout of requests to that of a completion.
func withTimeout(cmd *cobra.Command, flags *pflag.FlagSet) {
	_ = flags.Set("request-timeout", completionTime.String()) // which a command line may shorten
	given(cmd, flags)
}

// objects completes the names of the objects of kinds, in the namespace where they have one.
func objects(kinds ...schema.GroupVersionKind) completer {
	return func(ctx context.Context, cmd *cobra.Command, _ []string, found func(...string)) {
		c, namespace := connected(cmd)
		if c == nil {
			return
		}
		for _, kind := range kinds {
			found(namesOf(ctx, c, kind, within(c, kind, namespace))...)
		}
	}
}

// within is the namespace to list a kind in; empty for one that belongs to none.
func within(c client.Client, kind schema.GroupVersionKind, namespace string) string {
	if mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version); err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return ""
	}
	return namespace
}

// namesOf are the names of the objects of a kind, in a namespace or in all.
func namesOf(ctx context.Context, c client.Reader, kind schema.GroupVersionKind, namespace string) []string {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	if c.List(ctx, list, client.InNamespace(namespace)) != nil {
		return nil
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return names
}

var (
	kindNamespace     = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	kindSubscription  = v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind)
	kindCatalogSource = v1alpha1.GroupVersion.WithKind("CatalogSource")
	kindInstallPlan   = v1alpha1.GroupVersion.WithKind(v1alpha1.InstallPlanKind)
	kindExtension     = olmv1.GroupVersion.WithKind(olmv1.ClusterExtensionKind)
	kindCatalog       = olmv1.GroupVersion.WithKind("ClusterCatalog")
)

// tracedKinds are what people trace, as resources and kinds.
var tracedKinds = []struct {
	resource string
	kind     schema.GroupVersionKind
}{
	{"clusterextension", kindExtension}, {"clusterserviceversion", v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind)},
	{"deployment", schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}}, {"pod", schema.GroupVersionKind{Version: "v1", Kind: "Pod"}},
	{"service", schema.GroupVersionKind{Version: "v1", Kind: "Service"}}, {"subscription", kindSubscription},
}

// traceable are KIND/NAME: kinds as long as none is written.
func traceable(ctx context.Context, cmd *cobra.Command, _ []string, found func(...string)) {
	for _, one := range tracedKinds {
		found(one.resource + "/")
	}
	c, namespace := connected(cmd)
	if c == nil {
		return
	}
	for _, one := range tracedKinds {
		for _, name := range namesOf(ctx, c, one.kind, within(c, one.kind, namespace)) {
			found(one.resource + "/" + name)
		}
	}
}

// offered are what the catalogs have that a command line means, of one package or of all: those in directories, and those that the cluster serves. No
// image is pulled for it.
func offered(ctx context.Context, cmd *cobra.Command, pkg string) []*preview.Package {
	c := catalogs{streams: command.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, noImages: true}
	flags := &cobra.Command{}
	c.flags(flags)
	withTimeout(cmd, flags.Flags())
	c.output = command.OutputText
	if c.check() != nil {
		return nil
	}
	a, err := c.read(ctx, pkg)
	if err != nil {
		return nil
	}
	return a.Packages
}

func packages(ctx context.Context, cmd *cobra.Command, _ []string, found func(...string)) {
	found(preview.Names(offered(ctx, cmd, ""))...)
}

// ofPackage completes what the package that is the argument has.
func ofPackage(has func(p *preview.Package) []string) completer {
	return func(ctx context.Context, cmd *cobra.Command, args []string, found func(...string)) {
		if len(args) == 0 {
			return
		}
		for _, p := range offered(ctx, cmd, args[0]) {
			found(has(p)...)
		}
	}
}

func channelsOf(p *preview.Package) (names []string) {
	for _, c := range p.Channels {
		names = append(names, c.Name)
	}
	return names
}

func versionsOf(p *preview.Package) (names []string) {
	for _, v := range p.Versions {
		names = append(names, v.Version)
	}
	return names
}
