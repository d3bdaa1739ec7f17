package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
)

func newOpmInitCommand(s command.Streams) *cobra.Command {
	var channel, icon, description string
	var output formatFlag
	cmd := &cobra.Command{
		Use:   "init <packageName>",
		Short: "Write the olm.package object that a package begins with",
		Args:  command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&channel, "default-channel", "c", "", "channel that is followed unless another one is asked for")
	cmd.Flags().StringVarP(&icon, "icon", "i", "", "file with a picture")
	cmd.Flags().StringVarP(&description, "description", "d", "", "file with a description")
	output.add(cmd.Flags())
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		p, err := scaffold.PackageFromFiles(args[0], channel, description, icon)
		if err != nil {
			return err
		}
		return catalog.Write(s.Out, &catalog.Catalog{Packages: []catalog.Package{p}}, format)
	}
	return cmd
}
