package resolvecmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

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
		Args: oneArgument("PACKAGE or PACKAGE@VERSION", checkEntry),
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
