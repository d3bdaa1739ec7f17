package resolvecmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// Commands are the commands that tell what would be decided.
func Commands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newOutdatedCommand(s),
		newResolveCommand(s),
		newWhyCommand(s),
		newWhyNotCommand(s),
	}
}

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
bundle that none of them has, such as a hotfix, goes on by its version: with NAME@VERSION, every bundle whose skipRange contains VERSION
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
	e.flags(cmd)
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
