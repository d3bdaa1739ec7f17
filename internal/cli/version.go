package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

type versionInfo struct {
	Fairlead string `json:"fairlead"`
	// Kubernetes is the release that the embedded cluster runs.
	Kubernetes string `json:"kubernetes,omitempty"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

func newVersionCommand(s command.Streams) *cobra.Command {
	var format command.Output
	cmd := &cobra.Command{
		Use:     "version",
		Example: `  fairlead version`,
		Short:   "Print the versions of Fairlead and of the Kubernetes it embeds",
		Args:    command.Usage(cobra.NoArgs),
	}
	format.Flag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		info := built()
		return format.Write(s.Out, info, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, info)
			return err
		})
	}
	return cmd
}

// built is the running program.
func built() versionInfo {
	info := versionInfo{Fairlead: command.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range build.Deps {
			if dependency.Path == "k8s.io/kubernetes" {
				info.Kubernetes = dependency.Version
			}
		}
	}
	return info
}

// String is one line.
func (v versionInfo) String() string {
	return fmt.Sprintf("fairlead %s, embedded Kubernetes %s, %s %s", v.Fairlead, v.Kubernetes, v.Go, v.Platform)
}
