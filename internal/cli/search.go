package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops/preview"
)

func newSearchCommand(s command.Streams) *cobra.Command {
	c := catalogs{streams: s}
	cmd := &cobra.Command{
		Use:   "search [TEXT]",
		Short: "Find packages in the catalogs by name, kind, keyword or description",
		Long: `Find the packages whose name, display name, keywords, kinds or description have a text; without one all are listed. Those whose name
has it come first.
` + catalogsHelp,
		Example: `  fairlead search kafka
  fairlead search --catalog ./catalog -o json`,
		Args: command.Usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			text, what := "", "there is no package"
			if len(args) > 0 && args[0] != "" {
				text, what = args[0], fmt.Sprintf("no package has %q in its name, keywords, kinds or description", args[0])
			}
			a, err := c.read(cmd.Context(), "")
			if err != nil {
				return err
			}
			found := preview.Search(a.Packages, text)
			return c.answer(a, len(found.Packages), what, found)
		},
	}
	c.flags(cmd)
	return cmd
}

func newInfoCommand(s command.Streams) *cobra.Command {
	c := catalogs{streams: s}
	cmd := &cobra.Command{
		Use: "info PACKAGE",
		Example: `  fairlead info etcd -n operators
  fairlead info etcd --catalog ./catalog`,
		Short: "Describe a package: what it is, its channels, what it provides and needs",
		Long: `Describe a package in each catalog that has it: what it is, its channels, what its newest version provides and needs, and what is
deprecated.
` + catalogsHelp,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := c.about(cmd, args[0])
			if err != nil {
				return err
			}
			info := preview.About(a.Packages, args[0])
			return c.answer(a, len(info.Catalogs), c.noPackage(cmd.Context(), a, args[0]), info)
		},
	}
	c.flags(cmd)
	return cmd
}

func newVersionsCommand(s command.Streams) *cobra.Command {
	c := catalogs{streams: s}
	var channel string
	cmd := &cobra.Command{
		Use: "versions PACKAGE",
		Example: `  fairlead versions etcd -n operators
  fairlead versions etcd --channel stable --catalog ./catalog`,
		Short: "List the versions of a package, newest first, with their channels",
		Long: `List the versions of a package in each catalog that has it, newest first, with their channels and what is deprecated. Which of them
could be installed now, and why not, is told by: fairlead why-not
` + catalogsHelp,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := c.about(cmd, args[0])
			if err != nil {
				return err
			}
			what := c.noPackage(cmd.Context(), a, args[0])
			if len(a.Packages) > 0 {
				what = fmt.Sprintf("package %s has no channel %s; fairlead info %[1]s lists those that it has", args[0], channel)
			}
			versions := preview.VersionsOf(a.Packages, args[0], channel)
			return c.answer(a, len(versions.Versions), what, versions)
		},
	}
	c.flags(cmd)
	cmd.Flags().StringVar(&channel, "channel", "", "list only the versions of this channel")
	return cmd
}

// about reads what catalogs have of a package.
func (c *catalogs) about(cmd *cobra.Command, pkg string) (preview.Answer, error) {
	if err := c.check(); err != nil {
		return preview.Answer{}, err
	}
	if err := preview.Check("package", pkg); err != nil {
		return preview.Answer{}, command.UsageError{Err: err}
	}
	return c.read(cmd.Context(), pkg)
}

// noPackage says that no catalog has a package, with the nearest name, for which the catalogs are read once more.
func (c *catalogs) noPackage(ctx context.Context, a preview.Answer, name string) string {
	if len(a.Packages) > 0 || a.Read == 0 {
		return ""
	}
	text := fmt.Sprintf("there is no package %s; fairlead search lists what there is", name)
	all, err := c.read(ctx, "")
	if err != nil {
		return text
	}
	return text + messages.DidYouMean(name, preview.Names(all.Packages))
}
