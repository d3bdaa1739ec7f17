package catalogserver

import (
	"log/slog"
	"os"
)

// TerminationLog is the file from which a cluster reads why a container ended.
const TerminationLog = "/dev/termination-log"

// Terminated writes to a file why a server failed. TerminationLog itself is never made where it does not exist: there is no cluster then.
func Terminated(path string, reason error, log *slog.Logger) {
	if path == "" {
		return
	}
	flags := os.O_WRONLY | os.O_TRUNC
	if path != TerminationLog {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if path == TerminationLog && os.IsNotExist(err) {
		return
	}
	if err == nil {
		_, err = file.WriteString(reason.Error() + "\n")
		_ = file.Close() // what was written counts
	}
	if err != nil {
		log.Warn("cannot write the termination log", "error", err)
	}
}
