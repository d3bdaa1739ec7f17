package metrics

import (
	"slices"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestCatalogSources(t *testing.T) {
	const count = "# TYPE catalog_source_count gauge"
	const ready = "# TYPE catalogsource_ready gauge"
	const snapshots = "# TYPE catalog_source_snapshots_total counter"
	for name, test := range map[string]struct {
		do   func(m *CatalogSources)
		want []string
	}{
		"nothing": {func(*CatalogSources) {}, []string{count, "catalog_source_count 0"}},
		"one that is not ready yet": {func(m *CatalogSources) { m.Seen("olm", "a", false) },
			[]string{count, "catalog_source_count 1", ready, `catalogsource_ready{name="a",namespace="olm"} 0`}},
		"becomes ready, seen twice": {func(m *CatalogSources) { m.Seen("olm", "a", false); m.Seen("olm", "a", true); m.Seen("olm", "a", true) },
			[]string{count, "catalog_source_count 1", ready, `catalogsource_ready{name="a",namespace="olm"} 1`}},
		"one name in two namespaces": {func(m *CatalogSources) { m.Seen("a", "c", true); m.Seen("b", "c", false) },
			[]string{count, "catalog_source_count 2", ready, `catalogsource_ready{name="c",namespace="a"} 1`, `catalogsource_ready{name="c",namespace="b"} 0`}},
		"content": {func(m *CatalogSources) { m.Loaded("olm", "a"); m.Loaded("olm", "a") },
			[]string{count, "catalog_source_count 0", snapshots, `catalog_source_snapshots_total{name="a",namespace="olm"} 2`}},
		"series go with their object": {func(m *CatalogSources) { m.Seen("olm", "a", true); m.Loaded("olm", "a"); m.Gone("olm", "a") },
			[]string{count, "catalog_source_count 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewCatalogSources()
			test.do(m)
			slices.Sort(test.want)
			must.Equal(t, "scrape", scrape(t, m), test.want)
		})
	}
}
