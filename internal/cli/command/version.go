package command

import (
	"cmp"
	"runtime/debug"
)

// releasedVersion is the version of a release, which sets it: -ldflags '-X fairlead.dev/fairlead/internal/cli/command.releasedVersion=v1.2.3'.
var releasedVersion string

// Version is the version of the running program: that of the release, or what the go command has recorded; "unknown" without either.
func Version() string {
	version := releasedVersion
	if build, ok := debug.ReadBuildInfo(); ok {
		version = cmp.Or(version, build.Main.Version)
	}
	return cmp.Or(version, "unknown")
}
