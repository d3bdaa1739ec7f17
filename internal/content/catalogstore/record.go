package catalogstore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// record says which content a directory had when it was looked at.
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
