package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
)

// limits bound what is read from a bundle, which is untrusted content. The largest of the well-known public bundles
// have 32 files, 4 MiB in all, 2 MiB and 60,000 tokens in one file, and values nested 58 deep.
type limits struct {
	files       int   // manifests or metadata files
	fileBytes   int64 // bytes of one file
	totalBytes  int64 // bytes of all files
	tokens      int   // YAML separators of one file, which bound the time to parse it
	totalTokens int   // YAML separators of all manifests, or of all metadata files
	depth       int   // nesting of one document
	values      int   // values of one document, with each use of an alias counted
	totalValues int64 // values of all manifests

	// used counts the values of all manifests while they are decoded side by side.
	used *atomic.Int64
}

var defaultLimits = limits{
	files:       1000,
	fileBytes:   8 << 20,
	totalBytes:  64 << 20,
	tokens:      500_000,
	totalTokens: 2_000_000,
	depth:       200,
	values:      500_000,
	totalValues: 2_000_000,
}

// file is the content of one file of a bundle.
type file struct {
	name string
	data []byte
}

// reader reads the files of one bundle and keeps count of what it has read.
type reader struct {
	fsys  fs.FS
	lim   limits
	total int64
}

// read returns the content of a file.
func (r *reader) read(name string) (file, error) {
	f, err := r.fsys.Open(name)
	if err != nil {
		return file{}, fmt.Errorf("open %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, r.lim.fileBytes+1))
	if err != nil {
		return file{}, fmt.Errorf("read %s: %w", name, err)
	}
	r.total += int64(len(data))
	if err := r.lim.checkBytes(name, int64(len(data)), r.total); err != nil {
		return file{}, err
	}
	return file{name: name, data: data}, nil
}

func (l limits) checkBytes(name string, size, total int64) error {
	if size > l.fileBytes {
		return fmt.Errorf("read %s: larger than %d bytes; split it or make it smaller", name, l.fileBytes)
	}
	if total > l.totalBytes {
		return fmt.Errorf("read %s: the bundle is larger than %d bytes in all; make it smaller", name, l.totalBytes)
	}
	return nil
}

// checkTotalTokens refuses all manifests, or all metadata files, that could take too long to parse.
func (l limits) checkTotalTokens(files []file) error {
	total := 0
	for _, f := range files {
		if total += countTokens(f.data); total > l.totalTokens {
			return fmt.Errorf("read %s: more than %d YAML separators in the files up to this one", f.name, l.totalTokens)
		}
	}
	return nil
}

// countTokens counts separators. Every YAML value but the first of a document follows one of them.
func countTokens(data []byte) int {
	tokens := 0
	for _, separator := range []string{"\n", ",", ":", "- ", "[", "{", "?"} {
		tokens += bytes.Count(data, []byte(separator))
	}
	return tokens
}

// errTotalValues is the error of every document that is decoded when the values of all are too many. It is reported
// without the name of a file, because it depends on chance which of them that is.
var errTotalValues = errors.New("too many values in all manifests")
