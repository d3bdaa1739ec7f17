package authoring

import (
	"fmt"

	"github.com/spf13/cobra"
)

// goneCommands are commands that pipelines may still call and that no opm has any more, with what took their place.
var goneCommands = map[string]string{
	"index": "catalogs are no longer kept in databases; write a file-based catalog: 'opm migrate' or 'opm render' reads the old catalog's " +
		"file-based form, and 'fairlead catalog prune' and 'fairlead catalog merge' do what 'index prune' and 'index add' did",
	"registry": "catalogs are no longer kept in databases; serve a file-based catalog with 'opm serve', and write it with 'opm render'",
}

// goneAlpha are those below alpha.
var goneAlpha = map[string]string{
	"diff":           "use 'fairlead catalog diff'",
	"channelgraph":   "use 'opm alpha render-graph' or 'fairlead catalog graph'",
	"render-veneer":  "veneers are called templates: use 'opm alpha render-template'",
	"convert-veneer": "veneers are called templates: use 'opm alpha convert-template'",
	"generate":       "it is no longer alpha: use 'opm generate dockerfile'",
}

// goneCommand fails with what took its place, whatever its arguments.
func goneCommand(name, parent, instead string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Gone: " + instead,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return fmt.Errorf("%s %s is no longer part of it: %s", parent, name, instead)
		},
	}
}
