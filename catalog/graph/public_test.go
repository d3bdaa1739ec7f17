package graph

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

const (
	small = publicdata.OwnCatalog
	full  = publicdata.FullCatalog
)

// publicCatalog loads a public catalog, or skips the test.
func publicCatalog(t testing.TB, archive string) *catalog.Catalog {
	t.Helper()
	dir := t.TempDir()
	publicdata.Each(t, archive, func(name string, content func() []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, content(), 0o644))
	})
	c := must.Value(catalog.Load(context.Background(), os.DirFS(dir), catalog.LoadOptions{}))(t)
	return c
}

// TestPublicCatalogs demands the errors and warnings that were judged one by
// one to be true, and no other.
func TestPublicCatalogs(t *testing.T) {
	for archive, want := range map[string]string{
		small: `
head-abandoned apicurio-registry-3 v0 and v1
head-abandoned project-quay v0 and v1
skipped-edges-ignored clusterpulse/fast-v0 v0
skipped-edges-ignored kubernaut-operator/candidate-v1 v0
skipped-edges-ignored kubernaut-operator/candidate-v1 v0
version-backwards aws-neuron-operator/Fast v0 and v1
version-backwards aws-neuron-operator/Stable v0 and v1
version-backwards slurm-operator/release-1.0 v0 and v1
`,
		full: `
head-abandoned hive-operator v0 and v1
head-abandoned strimzi-kafka-operator v0 and v1
skipped-edges-ignored infinispan/2.3.x v0
skip-range-backwards debezium-operator/debezium-2.6.x v0
skip-range-backwards debezium-operator/debezium-2.7.x v0
skip-range-backwards debezium-operator/debezium-latest v0
skip-range-backwards fence-agents-remediation/stable v0
skip-range-backwards machine-deletion-remediation/stable v0
skip-range-backwards node-maintenance-operator/stable v0
`} {
		t.Run(archive, func(t *testing.T) {
			if archive == full && !sweep.Whole() {
				t.Skip("large: it is tried with FAIRLEAD_TEST_SWEEP=1")
			}
			c := publicCatalog(t, archive)
			start := time.Now()
			findings := Check(c, Options{})
			t.Logf("%d findings about %d bundles in %v", len(findings), len(c.Bundles), time.Since(start))
			var got []string
			for _, f := range findings {
				if f.Severity != Info {
					where := f.Object.Name
					if f.Object.Package != "" {
						where = f.Object.Package + "/" + where
					}
					got = append(got, fmt.Sprintf("%s %s %s", f.Rule, where, f.holds()))
				}
			}
			left := map[string]int{}
			for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
				left[line]++
			}
			for _, line := range got {
				if left[line]--; left[line] < 0 {
					t.Errorf("not expected: %s", line)
				}
			}
			for line, n := range left {
				if n > 0 {
					t.Errorf("missing: %s", line)
				}
			}
			drawAll(t, c)
		})
	}
}

// BenchmarkCheckFull judges the largest public catalog, once it is loaded.
func BenchmarkCheckFull(b *testing.B) {
	c := publicCatalog(b, full)
	b.ReportAllocs()
	for b.Loop() {
		Check(c, Options{})
	}
}
