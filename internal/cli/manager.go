package cli

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	managercmd "fairlead.dev/fairlead/internal/manager/command"
)

func newManagerCommand(s command.Streams) *cobra.Command {
	cmd := managercmd.New(s.Err)
	cmd.Args = command.Usage(cmd.Args)
	return cmd
}
