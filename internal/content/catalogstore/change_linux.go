package catalogstore

import (
	"io/fs"
	"syscall"
	"time"
)

// change is when a file was last changed in any way, which no one can set back,
// and its number in the file system: images are often made with all times the
// same.
func change(info fs.FileInfo) (time.Time, uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime(), 0
	}
	return time.Unix(s.Ctim.Unix()), s.Ino
}
