package clustercatalog

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// BenchmarkFullCatalog serves a catalog of the size of the largest public one: how long it takes from the object to the status that it is
// served, the same after a restart, and the CPU time of a poll that finds nothing new, of the manager and of the registry together.
func BenchmarkFullCatalog(b *testing.B) {
	dir, what := bigcatalog.Dir(b)
	files := map[string]string{}
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			relative, _ := filepath.Rel(dir, path) // of a path below it
			found = append(found, relative)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		b.Fatalf("%d files in %s: %v", len(found), dir, err)
	}
	for _, path := range found {
		content := must.Value(os.ReadFile(filepath.Join(dir, path)))(b)
		files["configs/"+path] = string(content)
	}
	for b.Loop() {
		w := newWorld(b)
		w.pushFiles("full:latest", files, image.CatalogLabels())
		store, address := b.TempDir(), harness.FreeAddress(b)
		same := func(o *manager.Options) { o.StoreDir, o.CatalogHTTP.Address = store, address }
		stop := w.run(same)
		begun := time.Now()
		w.ask("full", w.ref("full:latest"))
		base := w.says("full", succeeded, available).Status.URLs.Base
		b.ReportMetric(time.Since(begun).Seconds(), "s-to-served")

		before, asked := cpu(b), w.asked.Load()
		w.minute("full")
		must.Eventually(w, "the registry to be asked", func() error {
			if w.asked.Load() == asked {
				return os.ErrNotExist
			}
			return nil
		})
		b.ReportMetric(float64((cpu(b) - before).Milliseconds()), "ms-CPU/poll")
		stop()
		begun = time.Now()
		stop = w.run(same)
		for {
			if code, _, err := w.answer(base + "/api/v1/metas?schema=olm.package&name=none"); err == nil && code == 200 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		b.ReportMetric(time.Since(begun).Seconds(), "s-to-served-again")
		stop()
		b.Log(what)
	}
}

// cpu is the CPU time of this process so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	must.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
