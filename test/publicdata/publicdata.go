// Package publicdata lets tests read public catalogs and bundles, which are kept beside the checkout, in ../shared/data, and are not
// part of it. A test that needs them is skipped, with the reason, where they are absent. Start reading at Each.
package publicdata

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"fairlead.dev/fairlead/test/must"
)

// The archives.
const (
	Bundles     = "bundles.tar.zst"        // bundles/<package>/<version>/...
	FullCatalog = "community-full.tar.zst" // fbc-full/<package>/catalog.yaml
	OwnCatalog  = "community-v4.19.tar.zst"
)

// place is where an archive is, beside the checkout.
func place(archive string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", "data", archive)
}

// Has tells whether an archive is there.
func Has(archive string) bool {
	_, err := os.Stat(place(archive))
	return err == nil
}

// Each calls use with every regular file of an archive; its content is read only when asked for.
func Each(t testing.TB, archive string, use func(name string, content func() []byte)) {
	t.Helper()
	file, err := os.Open(place(archive))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the public test data %s is not beside the checkout", archive)
	}
	must.NoError(t, err)
	defer file.Close()
	unpacked := must.Value(zstd.NewReader(file))(t)
	defer unpacked.Close()
	files := tar.NewReader(unpacked)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must.NoError(t, err)
		if header.Typeflag != tar.TypeReg {
			continue
		}
		use(path.Clean(header.Name), func() []byte {
			return must.Value(io.ReadAll(files))(t)
		})
	}
}

var bundles struct {
	sync.Mutex
	trees map[string]fstest.MapFS
}

// BundleTrees are the files of all public bundles, by <package>/<version>. They are read once a process and must not be changed.
func BundleTrees(t testing.TB) map[string]fstest.MapFS {
	t.Helper()
	bundles.Lock()
	defer bundles.Unlock()
	if bundles.trees != nil {
		return bundles.trees
	}
	trees := map[string]fstest.MapFS{}
	Each(t, Bundles, func(name string, content func() []byte) {
		parts := strings.SplitN(strings.TrimPrefix(name, "bundles/"), "/", 3)
		key := path.Join(parts[0], parts[1])
		if trees[key] == nil {
			trees[key] = fstest.MapFS{}
		}
		trees[key][parts[2]] = &fstest.MapFile{Data: content()}
	})
	bundles.trees = trees
	return trees
}
