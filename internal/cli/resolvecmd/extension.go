package resolvecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/extension"
	"fairlead.dev/fairlead/internal/preview"
)

// extensionFlags say what a ClusterExtension asks for.
type extensionFlags struct {
	*subject
	wanted preview.Extension
	policy string
}

func (e *extensionFlags) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&e.wanted.Package, "extension", "", "package of a ClusterExtension to resolve, instead of Subscriptions")
	flags.StringVar(&e.wanted.Version, "version", "", "versions that the extension may have, as a range (default: any)")
	flags.StringArrayVar(&e.wanted.Channels, "channel", nil, "channel that the extension follows (may be repeated; default: all)")
	flags.StringVar(&e.policy, "upgrade-constraint-policy", string(extension.CatalogProvided), "CatalogProvided, or SelfCertified to allow any change of version")
	flags.StringVar(&e.wanted.Installed, "installed-bundle", "", "what the extension has installed, as NAME, or NAME@VERSION when no catalog has it any more")
}

// asked tells whether the question is about an extension. Its error is about flags that do not go together.
func (e *extensionFlags) asked(cmd *cobra.Command) (bool, error) {
	own := []string{"version", "channel", "upgrade-constraint-policy", "installed-bundle"}
	others := []string{"filename", "installed", "installed-from", "subscribe", "namespace", "global-namespace", "kubernetes", "kubeconfig", "context"}
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case e.wanted.Package == "" && slices.Contains(own, f.Name):
			err = fmt.Errorf("--%s is about a ClusterExtension: name its package with --extension", f.Name)
		case e.wanted.Package != "" && slices.Contains(others, f.Name):
			err = fmt.Errorf("--%s is about Subscriptions: leave it out, or --extension", f.Name)
		}
	})
	policies := []extension.Policy{extension.CatalogProvided, extension.SelfCertified}
	switch e.wanted.Policy = extension.Policy(e.policy); {
	case err != nil || e.wanted.Package == "":
	case !slices.Contains(policies, e.wanted.Policy):
		err = fmt.Errorf("upgrade constraint policy %q: choose %s or %s", e.policy, policies[0], policies[1])
	case len(e.catalogs) == 0:
		err = errors.New("an extension is resolved with the catalogs that are named: add --catalog NAME=DIR|IMAGE")
	default:
		err = e.output.Check()
	}
	return e.wanted.Package != "", err
}

// run decides and prints.
func (e *extensionFlags) run(ctx context.Context) error {
	add, err := e.additions()
	if err != nil {
		return command.UsageError{Err: err}
	}
	return e.withLibrary(ctx, func(library *preview.Library) error {
		r, err := e.wanted.Resolve(ctx, library, add.Catalogs)
		if err != nil {
			return err
		}
		return e.answer(r)
	})
}
