package extensioncmd

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

// Commands are the commands of this package, but for those that internal/cli makes a part of others.
func Commands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newHistoryCommand(s),
		newInfoCommand(s),
		newMigrateCommand(s),
		newRollbackCommand(s),
		newSearchCommand(s),
		newUninstallCommand(s),
		newUpgradeCommand(s),
		newVersionsCommand(s),
	}
}
