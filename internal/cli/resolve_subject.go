package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/discovery"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// subject is what a question is about, as its flags say.
type subject struct {
	streams    command.Streams
	cluster    kubeconfig.Flags
	global     string
	catalogs   []string
	files      []string
	installed  []string
	from       []string
	subscribe  []string
	kubernetes string
	output     command.Output
}

const subjectHelp = `
Without --catalog and -f the namespace and the ClusterExtensions are read from the cluster, and the catalogs from their images, ConfigMaps and
registry servers; a server that only pods can reach is read through the API server (pods/portforward). Nothing is written, and the answer is what the manager would decide now. --subscribe then asks what would happen with one more Subscription.

With --catalog or -f no cluster is needed. -f takes the objects that a cluster has: Subscriptions, ClusterServiceVersions with their
phase, CatalogSources, ConfigMaps with catalogs, OperatorGroups, InstallPlans, ClusterExtensions and ClusterCatalogs, as kubectl get -o yaml prints them. A
--catalog takes the place of the CatalogSource and the ClusterCatalog of its name. --installed is short for an operator that runs, as a
catalog describes it; with @CATALOG/CHANNEL a Subscription follows that channel. With a file it reads ClusterServiceVersions, as
--installed-from does; those without phase are taken to run.`

func (f *subject) flags(cmd *cobra.Command) {
	f.output.Flag(cmd)
	f.cluster.AddCluster(cmd.Flags())
	f.cluster.AddNamespace(cmd.Flags())
	flags := cmd.Flags()
	flags.StringVar(&f.global, "global-namespace", manager.DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see")
	flags.StringArrayVar(&f.catalogs, "catalog", nil, "catalog to decide with, and no other: "+preview.OfflineCatalogGrammar+" (may be repeated)")
	flags.StringArrayVarP(&f.files, "filename", "f", nil, "file with Kubernetes objects, - for standard input (may be repeated)")
	flags.StringArrayVar(&f.installed, "installed", nil, "an operator that is installed, as NAME[@CATALOG/CHANNEL], or a YAML or JSON file of ClusterServiceVersions (may be repeated)")
	flags.StringArrayVar(&f.from, "installed-from", nil, "file with ClusterServiceVersions that are installed, whatever it is called (may be repeated)")
	flags.StringArrayVar(&f.subscribe, "subscribe", nil, "a Subscription to add, as PACKAGE[:CHANNEL][@STARTING_CSV][%CATALOG] (may be repeated)")
	flags.StringVar(&f.kubernetes, "kubernetes", "", "version of Kubernetes to decide for (default: that of the cluster; without one any)")
}

// decide reads what the flags name and lets it be decided on.
func (f *subject) decide(cmd *cobra.Command, question func(ctx context.Context, p *preview.Preview) error) error {
	if err := f.output.Check(); err != nil {
		return err
	}
	ctx := cmd.Context()
	q, err := f.question(ctx, cmd)
	if err != nil {
		return err
	}
	f.tell(q.Notes)
	return withLibrary(ctx, f.streams, func(library *preview.Library) error {
		p, err := q.Decide(ctx, library)
		if err != nil {
			return err
		}
		return question(ctx, p)
	})
}

// tell says what could not be checked, or says nothing.
func (f *subject) tell(notes []string) {
	for _, note := range notes {
		fmt.Fprintf(f.streams.Err, "note: %s\n", note)
	}
}

// withLibrary opens what catalogs are read with, for as long as do takes.
func withLibrary(ctx context.Context, s command.Streams, do func(library *preview.Library) error) (err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	library, err := preview.OpenLibrary(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, library.Close()) }()
	return do(library)
}

// question reads the objects, from files or from the cluster, and what is added to them.
func (f *subject) question(ctx context.Context, cmd *cobra.Command) (*preview.Question, error) {
	// Refuse values that nothing can be called: a variable of a script that is not set must not change the question.
	for _, name := range []string{"namespace", "global-namespace"} {
		flag := cmd.Flag(name)
		value := flag.Value.String()
		if !flag.Changed || value == "" && name == "global-namespace" { // which means that there are no catalogs for all
			continue
		}
		if err := preview.Check("namespace", value); err != nil {
			return nil, command.UsageError{Err: fmt.Errorf("--%s %q: %w; write the name of a namespace, or leave it out", name, value, err)}
		}
	}
	if err := f.checkCluster(cmd); err != nil {
		return nil, command.UsageError{Err: err}
	}
	add, err := f.additions()
	if err != nil {
		return nil, command.UsageError{Err: err}
	}
	q := &preview.Question{GlobalNamespace: f.global}
	if f.offline() {
		q.Namespace = cmd.Flag("namespace").Value.String()
		if err := f.readFiles(q); err != nil {
			return nil, err
		}
	} else {
		cluster, namespace, err := f.reach()
		if err != nil {
			return nil, err
		}
		if q, err = cluster.Question(ctx, namespace, f.global); err != nil {
			return nil, kubeconfig.Explain(err)
		}
		config, err := f.cluster.Config()
		if err != nil {
			return nil, err
		}
		q.Dial = kubeconfig.Dialer(config, cluster.Reader)
	}
	q.Catalogs, q.Installed, q.Requests, q.Again = add.Catalogs, add.Installed, add.Requests, repeatedFlags(cmd)
	if f.kubernetes != "" {
		q.Kubernetes = add.Kubernetes
	}
	return q, nil
}

// reach is the cluster, and the namespace to work in.
func (f *subject) reach() (preview.Cluster, string, error) {
	reader, namespace, err := f.cluster.Connect()
	if err != nil {
		return preview.Cluster{}, "", fmt.Errorf("%w; without a cluster, name what to decide on with --catalog or -f", err)
	}
	config, err := f.cluster.Config()
	if err != nil {
		return preview.Cluster{}, "", err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return preview.Cluster{}, "", fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	return preview.Cluster{Reader: reader, Server: server}, namespace, nil
}

// repeatedFlags are those of a command that ask the same question once more, in the order of their names.
func repeatedFlags(cmd *cobra.Command) []string {
	var flags []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		name := "--" + f.Name
		switch values, many := f.Value.(pflag.SliceValue); {
		case f.Name == "output" || kubeconfig.IsSecret(f): // how it is printed is no part of the question, and a token is not printed
		case f.Value.Type() == "bool":
			flags = append(flags, name+"="+f.Value.String())
		case many:
			for _, value := range values.GetSlice() {
				flags = append(flags, name, value)
			}
		default:
			flags = append(flags, name, f.Value.String())
		}
	})
	return flags
}
