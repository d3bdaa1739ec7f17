package catalogstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// record says which content a directory had when it was checked.
type record struct {
	Path   string `json:"path"`
	View   string `json:"view"`
	Digest string `json:"digest"`
}

// maxRecord is more than any record has.
const maxRecord = 64 << 10

func (c *Cache) recordPath(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:])+recordSuffix)
}

// recall is the digest of the content of a directory, empty if it is not known
// that the directory is still what it was.
func (c *Cache) recall(path string, v view) string {
	name := c.recordPath(path)
	if info, err := os.Stat(name); err != nil || info.Size() > maxRecord {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.Path != path || r.View != v.digest {
		return ""
	}
	now := time.Now()
	_ = os.Chtimes(name, now, now)
	return r.Digest
}

// remember writes a record. Without it only time is lost, so that it cannot be
// written is no error.
func (c *Cache) remember(path string, v view, digest string) {
	data, err := json.Marshal(record{Path: path, View: v.digest, Digest: digest})
	if err != nil {
		return
	}
	temp, err := os.CreateTemp(c.dir, tempPrefix)
	if err != nil {
		return
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if closed := temp.Close(); err != nil || closed != nil {
		return
	}
	_ = os.Rename(temp.Name(), c.recordPath(path))
}

// view is what can be told of a directory without reading its files.
type view struct {
	digest string
	taken  time.Time
	newest time.Time // change of any file
}

// granularity is more than what two changes of a file can be apart and still
// have the same time.
const granularity = time.Second

// State is a text that changes when the files of a catalog do, as far as that can
// be told without reading them.
func State(ctx context.Context, fsys fs.FS) (string, error) {
	v, err := look(ctx, fsys)
	return v.digest, err
}

// look takes a view of the files that belong to a catalog.
func look(ctx context.Context, fsys fs.FS) (view, error) {
	v := view{taken: time.Now()}
	files, problems, err := catalog.Files(ctx, fsys)
	if err != nil {
		return v, err
	}
	sum := sha256.New()
	for _, p := range problems {
		fmt.Fprintf(sum, "problem %q\n", p)
	}
	for _, name := range files {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return v, fmt.Errorf("read the files of a catalog: %w", err)
		}
		changed, id := change(info)
		fmt.Fprintf(sum, "file %q %d %d %d %d\n", name, info.Size(), info.ModTime().UnixNano(), changed.UnixNano(), id)
		for _, t := range []time.Time{info.ModTime(), changed} {
			if t.After(v.newest) {
				v.newest = t
			}
		}
	}
	v.digest = hex.EncodeToString(sum.Sum(nil))
	return v, nil
}
