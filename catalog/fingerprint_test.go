package catalog

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// zeros is a tree whose files have no end.
type zeros struct{ fstest.MapFS }

type zeroFile struct{ fs.File }

func (z zeros) Open(name string) (fs.File, error) {
	file, err := z.MapFS.Open(name)
	if err != nil || name == "." {
		return file, err
	}
	return zeroFile{file}, nil
}

func (zeroFile) Read(p []byte) (int, error) { return len(p), nil }

func TestFingerprintEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("hashes a gigabyte")
	}
	_, err := Fingerprint(context.Background(), zeros{fstest.MapFS{"a.yaml": {}}})
	if err == nil || !strings.Contains(err.Error(), "a.yaml: the file is larger than the limit; split") {
		t.Errorf("error %v, want the limit", err)
	}
}
