package authoring

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

func newOpmVersionCommand(s command.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  command.Usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			// What the running binary was built from, in the form that scripts pick apart.
			release, commit, date := "unknown", "unknown", "unknown"
			if build, ok := debug.ReadBuildInfo(); ok {
				if build.Main.Version != "" {
					release = build.Main.Version
				}
				for _, setting := range build.Settings {
					switch setting.Key {
					case "vcs.revision":
						commit = setting.Value
					case "vcs.time":
						date = setting.Value
					}
				}
			}
			_, err := fmt.Fprintf(s.Out, "Version: version.Version{OpmVersion:%q, GitCommit:%q, BuildDate:%q, GoOs:%q, GoArch:%q}\n",
				release, commit, date, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
