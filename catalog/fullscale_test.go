package catalog_test

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// yardsticks says how large a tree is and how long two well-known things take
// with it here, and returns the seconds of gzip -1.
func yardsticks(b *testing.B, dir, what string) (scale string, zip float64) {
	b.Helper()
	content := func(to io.Writer) time.Duration {
		start := time.Now()
		must.NoError(b, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := os.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = io.Copy(to, file)
			return err
		}))
		return time.Since(start)
	}
	content(io.Discard) // into the memory of the system
	by := "gzip -1"
	took, err := tool(content, "gzip", "-1")
	if err != nil {
		by = "compress/gzip, as there is no gzip,"
		writer := must.Value(gzip.NewWriterLevel(io.Discard, 1))(b)
		took = content(writer)
	}
	scale = fmt.Sprintf("%s of %.1f MB: %s takes %.2f s here, SHA-256 %.2f s; where the other one was measured, 1.07 s and 0.45 s",
		what, float64(size(b, dir))/1e6, by, took.Seconds(), content(sha256.New()).Seconds())
	return scale, took.Seconds()
}

// tool is how long a command takes that reads the content.
func tool(content func(io.Writer) time.Duration, name string, args ...string) (time.Duration, error) {
	cmd := exec.Command(name, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	start := time.Now()
	content(in)
	if err := in.Close(); err != nil {
		return 0, err
	}
	err = cmd.Wait()
	return time.Since(start), err
}

// size is that of all files in a directory.
func size(b *testing.B, dir string) (total int64) {
	b.Helper()
	must.NoError(b, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	}))
	return total
}
