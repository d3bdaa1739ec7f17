package catalog

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/test/must"
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
	must.Fail(t, "Fingerprint", err, "a.yaml: the file is larger than the limit; split")
}
