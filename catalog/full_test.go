package catalog_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

// BenchmarkFullCatalog prints what the largest catalog costs, beside what it
// costs the other implementation on a machine like this, and what gzip -1 and
// sha256sum of the same bytes cost on this one and on that: 1.07 s and 0.45 s.
func BenchmarkFullCatalog(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("the memory of a process can only be read on Linux")
	}
	yaml, what := bigcatalog.Dir(b)
	asJSON := bigcatalog.JSON(b, yaml)
	cacheDir := b.TempDir()
	scale, zip := yardsticks(b, yaml, what)
	time.Sleep(2 * time.Second) // files that were just written are not believed by their times
	for _, row := range []struct {
		name, task, dir string
		before          func()
		beat            string
	}{
		{"validate/yaml", "validate", yaml, nil, "11.1 s (10.3 times gzip -1), 14.4 cpu-s, 671 peak-MiB; the bound is 2.8 s (2.6 times), 170 peak-MiB"},
		{"validate/json", "validate", asJSON, nil, "8.6 s (8.0 times gzip -1), 10.2 cpu-s, 687 peak-MiB; the bound is 1.2 s (1.1 times), 170 peak-MiB"},
		{"open/cold", "open", yaml, func() {
			b.Helper()
			entries := must.Value(os.ReadDir(cacheDir))(b)
			for _, entry := range entries {
				must.NoError(b, os.RemoveAll(filepath.Join(cacheDir, entry.Name())))
			}
		}, "26.9 s (25 times gzip -1), 663 index-MB; the bound is 4 s (3.7 times), 200 index-MB"},
		{"open/warm", "open", yaml, func() {
			b.Helper()
			if size(b, cacheDir) == 0 {
				measure(b, "open", yaml, cacheDir)
			}
		}, "10.8 s (10 times gzip -1), 765 resident-MiB; the bound is 0.2 s, 100 resident-MiB"},
	} {
		b.Run(row.name, func(b *testing.B) {
			var sum measured
			for b.Loop() {
				if row.before != nil {
					row.before()
				}
				o := measure(b, row.task, row.dir, cacheDir)
				sum.Seconds += o.Seconds
				sum.CPUSeconds += o.CPUSeconds
				sum.PeakMiB = max(sum.PeakMiB, o.PeakMiB)
				sum.ResidentMiB = max(sum.ResidentMiB, o.ResidentMiB)
			}
			n := float64(b.N)
			b.ReportMetric(0, "ns/op") // that of the child is below
			b.ReportMetric(sum.Seconds/n, "s")
			b.ReportMetric(sum.Seconds/n/zip, "gzips")
			b.ReportMetric(sum.CPUSeconds/n, "cpu-s")
			b.ReportMetric(sum.PeakMiB, "peak-MiB")
			if row.task == "open" {
				b.ReportMetric(sum.ResidentMiB, "resident-MiB")
				b.ReportMetric(float64(size(b, cacheDir))/1e6, "index-MB")
			}
			b.Log(scale)
			b.Log("the other one: " + row.beat)
		})
	}
}
