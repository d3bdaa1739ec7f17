//go:build unix

package catalogstore

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// builderVariable makes a process of this test program one that fills a cache
// until it is killed.
const builderVariable = "FAIRLEAD_TEST_CACHE_BUILDER"

func TestMain(m *testing.M) {
	if os.Getenv(builderVariable) != "" {
		fmt.Fprintln(os.Stderr, buildForever(os.Args[1], os.Args[2]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// buildForever builds the index of a directory again and again, and says on
// standard output when it begins.
func buildForever(cacheDir, dir string) error {
	c, err := OpenCache(cacheDir)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		x, err := c.Dir(context.Background(), dir)
		if err != nil {
			return err
		}
		if err := x.Close(); err != nil {
			return err
		}
		indexes, err := filepath.Glob(filepath.Join(cacheDir, "*"+indexSuffix))
		if err != nil {
			return err
		}
		for _, name := range indexes {
			if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
}

// TestKilledAtAnyMoment kills two processes that fill one cache, and expects
// that what they leave does no harm.
func TestKilledAtAnyMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("builds indexes for some seconds")
	}
	dir, cacheDir := t.TempDir(), t.TempDir()
	shape := bigcatalog.Shape{Packages: 4, Bundles: 100, BundleBytes: 5000}
	must.NoError(t, bigcatalog.Write(dir, shape, catalog.JSON))
	rounds := sweep.Of(7, 7, 20) // from the first moment to that at which an index is done
	for round := range rounds {
		builders := []*exec.Cmd{builder(t, cacheDir, dir), builder(t, cacheDir, dir)}
		time.Sleep(time.Duration(round) * 140 * time.Millisecond / time.Duration(rounds))
		for _, b := range builders {
			must.NoError(t, b.Process.Kill())
			_ = b.Wait() // it was killed
		}
		indexes := must.Value(filepath.Glob(filepath.Join(cacheDir, "*"+indexSuffix)))(t)
		for _, name := range indexes {
			checkIndex(t, name, shape)
		}
	}
	c := must.Value(OpenCache(cacheDir))(t)
	x := must.Value(c.Dir(t.Context(), dir))(t)
	must.NoError(t, x.Close())
}

// builder is a process that has begun to fill the cache.
func builder(t *testing.T, cacheDir, dir string) *exec.Cmd {
	t.Helper()
	self := must.Value(os.Executable())(t)
	cmd := exec.Command(self, cacheDir, dir)
	cmd.Env = append(os.Environ(), builderVariable+"=1")
	cmd.Stderr = os.Stderr
	out := must.Value(cmd.StdoutPipe())(t)
	must.NoError(t, cmd.Start())
	must.Value(io.ReadFull(out, make([]byte, len("ready\n"))))(t)
	return cmd
}

func checkIndex(t *testing.T, name string, want bigcatalog.Shape) {
	t.Helper()
	x, err := catalog.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer x.Close()
	must.NoError(t, x.Verify(t.Context()))
	must.Equal(t, "packages", len(x.PackageNames()), want.Packages)
}
