package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

// realCatalog unpacks an archive of public catalogs and returns its directory.
func realCatalog(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	publicdata.Each(t, name+".tar.zst", func(name string, content func() []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, content(), 0o644))
	})
	return dir
}

// TestRealCatalogs loads every real catalog and expects nothing to be wrong
// with it but bundles whose authors left images empty, and nothing to be lost
// when the smaller one is written and read.
func TestRealCatalogs(t *testing.T) {
	for name, want := range map[string]struct{ packages, channels, bundles, withoutImages int }{
		"community-v4.19": {37, 81, 757, 0},
		"community-full":  {331, 651, 6980, 7},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "community-full" {
				sweep.Nightly(t, "community-v4.19 passes the same checks, and more")
			}
			fsys := os.DirFS(realCatalog(t, name))
			c := must.Value(Load(context.Background(), fsys, LoadOptions{}))(t)
			x := must.Value(NewIndex(c, name))(t)
			withoutImages := 0
			for _, p := range x.Problems() {
				if p.Severity == Warning && p.Rule == RuleRelatedImage && strings.Contains(p.Message, "name no image") {
					withoutImages++
				} else {
					t.Error(p)
				}
			}
			if withoutImages != want.withoutImages {
				t.Errorf("%d bundles have related images without an image, want %d", withoutImages, want.withoutImages)
			}
			channels := 0
			for _, p := range x.packages {
				channels += len(p.Channels)
			}
			if len(x.packages) != want.packages || channels != want.channels || len(x.bundles) != want.bundles {
				t.Errorf("the index has %d packages, %d channels, %d bundles; want %v", len(x.packages), channels, len(x.bundles), want)
			}
			fromFile := must.Value(Build(context.Background(), fsys, name, filepath.Join(t.TempDir(), "index"), LoadOptions{}))(t)
			defer fromFile.Close()
			if name == "community-v4.19" && !testing.Short() {
				checkRewrite(t, c)
				compareIndexes(t, x, fromFile)
			}
			if want, got := contentSum(t, x), contentSum(t, fromFile); want != got {
				t.Errorf("the content in memory has the checksum %x, that from the file %x", want, got)
			}
		})
	}
}

func contentSum(t *testing.T, x *Index) [sha256.Size]byte {
	t.Helper()
	content, _ := x.Content()
	sum := sha256.New()
	must.Value(io.Copy(sum, content))(t)
	return [sha256.Size]byte(sum.Sum(nil))
}

// checkRewrite writes the catalog, reads that and expects the same.
func checkRewrite(t *testing.T, c *Catalog) {
	t.Helper()
	want := written(t, WriteJSON, c)
	for name, write := range map[string]func(io.Writer, *Catalog) error{"a.json": WriteJSON, "a.yaml": WriteYAML} {
		again, err := Load(context.Background(), files(map[string]string{name: string(written(t, write, c))}), LoadOptions{})
		must.NoErrorf(t, err, "%s", name)
		if !bytes.Equal(want, written(t, WriteJSON, again)) {
			t.Errorf("%s differs when it is read and written again", name)
		}
	}
}

func written(t testing.TB, write func(io.Writer, *Catalog) error, c *Catalog) []byte {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, write(&out, c))
	return out.Bytes()
}

// watchHeap samples the memory that Go holds until the returned function is
// called, which returns the most there was.
func watchHeap() (peak func() uint64) {
	runtime.GC()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		var max uint64
		for {
			metrics.Read(samples)
			if held := samples[0].Value.Uint64() - samples[1].Value.Uint64(); held > max {
				max = held
			}
			select {
			case <-ticker.C:
			case <-stop:
				most <- max
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-most
	}
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("the time used cannot be read: %v", err))
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
