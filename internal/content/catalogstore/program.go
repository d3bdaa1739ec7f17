package catalogstore

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
)

// program identifies the build that is running: by its version or commit or,
// where that does not say it all, by its file.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		if id := identify(info); id != "" {
			return id
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	file, err := os.Stat(path)
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d bytes of %s", file.Size(), file.ModTime().UTC().Format("2006-01-02T15:04:05"))
})

// identify is the commit that the program was built from, or its version,
// empty if neither is known or the source was modified.
func identify(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	switch {
	case settings["vcs.modified"] == "true":
		return ""
	case settings["vcs.revision"] != "":
		return settings["vcs.revision"]
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	return ""
}
