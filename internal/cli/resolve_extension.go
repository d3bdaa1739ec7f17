package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/internal/resolution"
)

// extensionFlags say what a ClusterExtension asks for.
type extensionFlags struct {
	*subject
	wanted preview.Extension
	policy string
}

// Which flags go with which question.
var (
	ofExtensions    = []string{"version", "channel", "upgrade-constraint-policy", "installed-bundle"}
	ofSubscriptions = []string{"installed", "installed-from", "subscribe", "namespace", "global-namespace"}
)

// asked tells whether the question is about an extension. Its error is about flags that do not go together, or say nothing.
func (e *extensionFlags) asked(cmd *cobra.Command) (bool, error) {
	asked := cmd.Flags().Changed("extension")
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case !asked && slices.Contains(ofExtensions, f.Name):
			err = fmt.Errorf("--%s is about a ClusterExtension: name its package with --extension", f.Name)
		case asked && slices.Contains(ofSubscriptions, f.Name):
			err = fmt.Errorf("--%s is about Subscriptions: leave it out, or --extension", f.Name)
		}
	})
	if !asked || err != nil {
		return asked, err
	}
	e.wanted.Policy = resolution.UpgradePolicy(e.policy)
	return true, cmp.Or(e.checkFlags(cmd), e.checkCluster(cmd), e.output.Check())
}

// checkFlags refuses values that nothing can be called.
func (e *extensionFlags) checkFlags(cmd *cobra.Command) error {
	if err := preview.Check("package", e.wanted.Package); err != nil {
		return fmt.Errorf("--extension %q: %w; write the name of a package", e.wanted.Package, err)
	}
	for _, channel := range e.wanted.Channels {
		if err := preview.Check("channel", channel); err != nil {
			return fmt.Errorf("--channel %q: %w; write the name of a channel, or leave it out for all of them", channel, err)
		}
	}
	flags := cmd.Flags()
	if flags.Changed("version") && strings.TrimSpace(e.wanted.Version) == "" {
		return fmt.Errorf("--version %q: it names no version; write a range such as '>=1.2.0 <2.0.0', or '*' for any version", e.wanted.Version)
	}
	policies := []resolution.UpgradePolicy{resolution.CatalogProvided, resolution.SelfCertified}
	if flags.Changed("upgrade-constraint-policy") && !slices.Contains(policies, e.wanted.Policy) {
		return fmt.Errorf("--upgrade-constraint-policy %q: choose %s or %s", e.policy, policies[0], policies[1])
	}
	if !flags.Changed("installed-bundle") {
		return nil
	}
	for i, part := range strings.SplitN(e.wanted.Installed, "@", 2) {
		if err := preview.Check([]string{"operator", "version"}[i], part); err != nil {
			return fmt.Errorf("--installed-bundle %q: %w; write NAME or NAME@VERSION", e.wanted.Installed, err)
		}
	}
	return nil
}

// run decides and prints.
func (e *extensionFlags) run(ctx context.Context) error {
	add, err := e.additions()
	if err != nil {
		return command.UsageError{Err: err}
	}
	q := &preview.Question{}
	if e.offline() {
		err = e.readFiles(q)
	} else {
		var cluster preview.Cluster
		if cluster, _, err = e.reach(); err != nil {
			return err
		}
		if q, err = cluster.Extensions(ctx); err == nil {
			q.Kubernetes, err = cluster.Kubernetes()
		}
		if config, failed := e.cluster.Config(); err == nil && failed == nil {
			q.Dial = kubeconfig.Dialer(config, cluster.Reader)
		}
		err = kubeconfig.Explain(err)
	}
	if err != nil {
		return err
	}
	e.tell(q.Notes)
	q.Catalogs = add.Catalogs
	if e.kubernetes != "" {
		q.Kubernetes = add.Kubernetes
	}
	return withLibrary(ctx, e.streams, func(library *preview.Library) error {
		r, err := q.Extend(ctx, library, e.wanted)
		if err != nil {
			return err
		}
		return e.answer(r)
	})
}
