package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"

	"github.com/spf13/cobra"
)

func newResolveCommand(s command.Streams) *cobra.Command {
	f := subject{streams: s}
	e := extensionFlags{subject: &f}
	cmd := &cobra.Command{
		Use:   "resolve",
		Short: "Tell which operators would be installed, or why there is no solution, without touching anything",
		Long: `Tell which operators would be installed, or why there is no solution, without touching anything. The decision is made by the code
that the manager runs.
` + subjectHelp + `

ClusterExtensions, of the cluster or in files, are resolved too, with the ClusterCatalogs beside them and those that --catalog names.
--extension asks about one of them alone, in short. Where there is a ClusterExtension for that package, that is meant: what is installed
and what the flags do not say is as it says. Otherwise it is a new one. --installed-bundle NAME reads the version from the catalogs. A
bundle that none of them has, such as a hotfix, upgrades by its version: with NAME@VERSION, every bundle whose skipRange contains VERSION
follows on it, and with --upgrade-constraint-policy SelfCertified any other does.

Exit code 0: there is a solution. 3: there is none for at least one Subscription or extension, or the OperatorGroup does not fit an
operator to install; it is said why, and what to do.
1: something that was named cannot be read. 2: wrong usage.`,
		Example: `  # What would the manager do in this namespace now? And with one more Subscription?
  fairlead resolve -n operators
  fairlead resolve -n operators --subscribe etcd:stable

  # The same for files, without a cluster
  kubectl get sub,csv,og,catsrc -n operators -o yaml | fairlead resolve -f - --catalog community=./catalog

  # A question of one line
  fairlead resolve --catalog cat=./catalog --installed etcdoperator.v0.9.2@cat/alpha --subscribe vault%cat -o json

  # A ClusterExtension of the cluster, if its spec.source.catalog.version were this
  fairlead resolve --extension etcd --version '>=0.9.0 <1.0.0'

  # The same without a cluster
  fairlead resolve --catalog cat=./catalog --extension etcd --version '>=0.9.0 <1.0.0' --installed-bundle etcdoperator.v0.9.2`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asked, err := e.asked(cmd); err != nil {
				return command.UsageError{Err: err}
			} else if asked {
				return e.run(cmd.Context())
			}
			return f.decide(cmd, func(_ context.Context, p *preview.Preview) error {
				r := p.Resolution()
				return f.answer(&r)
			})
		},
	}
	f.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&e.wanted.Package, "extension", "", "package of a ClusterExtension to resolve, instead of Subscriptions")
	flags.StringVar(&e.wanted.Version, "version", "", "versions that the extension may have, as a range (default: any)")
	flags.StringArrayVar(&e.wanted.Channels, "channel", nil, "channel that the extension follows (may be repeated; default: all)")
	flags.StringVar(&e.policy, "upgrade-constraint-policy", "", "CatalogProvided, or SelfCertified to allow any change of version (default: CatalogProvided)")
	flags.StringVar(&e.wanted.Installed, "installed-bundle", "", "what the extension has installed, as NAME, or as NAME@VERSION where no catalog has it any more: a hotfix, or a bundle that was renamed or removed")
	return cmd
}

// decision is an answer that may be no.
type decision interface {
	Write(w io.Writer) error
	Solved() bool
}

func (f *subject) answer(r decision) error {
	if err := f.output.Write(f.streams.Out, r, r.Write); err != nil {
		return err
	}
	if !r.Solved() {
		return command.ExitError{Code: command.ExitNo}
	}
	return nil
}

func newOutdatedCommand(s command.Streams) *cobra.Command {
	f := subject{streams: s}
	cmd := &cobra.Command{
		Use:   "outdated",
		Short: "Compare each Subscription and ClusterExtension with what there is: next, allowed, channel head, newest, and what holds it",
		Long: `Compare what each Subscription, and each ClusterExtension, has installed with what there is.

  NEXT             what would be installed in its place now
  ALLOWED          where the upgrade edges of what it follows lead to in the end; for a ClusterExtension as far as its needs are met
  CHANNEL HEAD     the newest entry of the channel that it follows
  NEWEST ANYWHERE  the highest version in any channel of any catalog in view, and IN which
  HELD BY          what is in the way of something newer, or until when it waits for its upgrade window

What holds it back, and what to do about it, is said in full below.
` + subjectHelp + `

Exit code 0: it was compared. 1: something that was named cannot be read. 2: wrong usage.`,
		Example: `  fairlead outdated -n operators
  fairlead outdated --catalog cat=./catalog --installed etcdoperator.v0.9.2@cat/alpha`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.decide(cmd, func(ctx context.Context, p *preview.Preview) error {
				o, err := p.Outdated(ctx)
				if err != nil {
					return err
				}
				return f.output.Write(s.Out, o, o.Write)
			})
		},
	}
	f.flags(cmd)
	return cmd
}

func newWhyCommand(s command.Streams) *cobra.Command {
	f := subject{streams: s}
	cmd := &cobra.Command{
		Use:   "why OPERATOR",
		Short: "Tell why an operator is, or would be, installed",
		Long: `Tell why an operator is, or would be, installed: what asks for it, and what asks for that, up to a Subscription; and which rule preferred
it over what comes next. OPERATOR is the name of a ClusterServiceVersion, of its package or of its Subscription, or of a bundle that a ClusterExtension has or
gets, of its package or of the ClusterExtension.
` + subjectHelp + `

Exit code 0: it is said why. 3: it is not installed and would not be. 1: something that was named cannot be read. 2: wrong usage.`,
		Example: `  fairlead why etcd -n operators
  fairlead why etcdoperator.v0.9.4 --catalog cat=./catalog --subscribe vault`,
		Args: oneArgument("OPERATOR", "operator"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.decide(cmd, func(_ context.Context, p *preview.Preview) error {
				w := p.Why(args[0])
				if err := f.output.Write(s.Out, w, w.Write); err != nil {
					return err
				}
				if w.State == preview.StateAbsent {
					return command.ExitError{Code: command.ExitNo}
				}
				return nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}

func newWhyNotCommand(s command.Streams) *cobra.Command {
	f := subject{streams: s}
	cmd := &cobra.Command{
		Use:   "why-not PACKAGE[@VERSION]",
		Short: "Tell why a package, or a version of it, would not be installed",
		Long: `Tell of each entry of a package in the catalogs in view which rules decided against it, or for it, and what to change to have it.
VERSION is a version or the name of a bundle; with it the reasons are told in full.
` + subjectHelp + `

Exit code 0: it is said why not. 1: no catalog has such a package or version, or something that was named cannot be read. 2: wrong usage.`,
		Example: `  fairlead why-not etcd -n operators
  fairlead why-not etcd@0.9.4 --catalog cat=./catalog --subscribe vault`,
		Args: oneArgument("PACKAGE or PACKAGE@VERSION", "package", "version"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pkg, version, _ := strings.Cut(args[0], "@")
			return f.decide(cmd, func(ctx context.Context, p *preview.Preview) error {
				w, err := p.WhyNot(ctx, pkg, version)
				if err != nil {
					return err
				}
				return f.output.Write(s.Out, w, w.Write)
			})
		},
	}
	f.flags(cmd)
	return cmd
}

// noArguments refuses arguments, and says that what is asked about is named with flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return command.UsageError{Err: fmt.Errorf("%s %q: it takes no argument; what it is about is named with flags, such as --namespace", cmd.Name(), args[0])}
}

// oneArgument wants one argument, of as many parts with an @ between them as there are kinds, or fewer; what says how it is written.
func oneArgument(what string, kinds ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return command.UsageError{Err: fmt.Errorf("%s takes one argument, %s, and %d were given", cmd.Name(), what, len(args))}
		}
		for i, part := range strings.SplitN(args[0], "@", len(kinds)) {
			if err := preview.Check(kinds[i], part); err != nil {
				return command.UsageError{Err: fmt.Errorf("%s %q: %w; write %s", cmd.Name(), args[0], err, what)}
			}
		}
		return nil
	}
}
