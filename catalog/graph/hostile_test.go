package graph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// TestHostileGraphs bounds time and memory for graphs as large as a catalog may
// have them, each made to be slow for somebody who looks at every pair. A short
// run, as under the race detector, which makes everything several times slower,
// has smaller ones and asks for no time.
func TestHostileGraphs(t *testing.T) {
	size := sweep.Of(10_000, 12_500, 25_000)
	n := size
	name := func(i int) string { return fmt.Sprintf("p.v1.%d.0", i) }
	shapes := map[string]func(i int, e *catalog.Entry){
		"a chain": func(i int, e *catalog.Entry) {
			if i > 0 {
				e.Replaces = name(i - 1)
			}
		},
		"a head that skips everything": func(i int, e *catalog.Entry) {
			for j := 0; j < i && i == n-1; j++ {
				e.Skips = append(e.Skips, name(j))
			}
		},
		"a range for everyone, a chain": func(i int, e *catalog.Entry) {
			if e.SkipRange = fmt.Sprintf(">=1.0.0 <1.%d.0", i); i > 0 {
				e.Replaces = name(i - 1)
			}
		},
		"the same unbounded range for everyone": func(i int, e *catalog.Entry) { e.SkipRange = ">=0.0.0 !1.5.0 !1.7.0" },
		"no edges":                              func(int, *catalog.Entry) {},
		"all replace one":                       func(_ int, e *catalog.Entry) { e.Replaces = name(0) },
		"a cycle":                               func(i int, e *catalog.Entry) { e.Replaces = name((i + n - 1) % n) },
		"each skips the next":                   func(i int, e *catalog.Entry) { e.Skips = []string{name(i + 1)} },
		"one name for all":                      func(_ int, e *catalog.Entry) { e.Name = name(0) },
		"all skip the same hundred": func(i int, e *catalog.Entry) {
			for j := range 100 {
				e.Skips = append(e.Skips, name(j))
			}
		},
	}
	for shape, edges := range shapes {
		t.Run(shape, func(t *testing.T) {
			if n = size; strings.HasPrefix(shape, "a ") && sweep.Whole() {
				n = 100_000
			}
			c := &catalog.Catalog{Packages: []catalog.Package{{Name: "p", DefaultChannel: "c"}}, Channels: []catalog.Channel{{Name: "c", Package: "p"}}}
			for i := range n {
				c.Bundles = append(c.Bundles, catalog.Bundle{Name: name(i), Package: "p", Properties: []catalog.Property{{
					Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":"1.%d.0"}`, i)),
				}}})
				e := catalog.Entry{Name: name(i)}
				edges(i, &e)
				c.Channels[0].Entries = append(c.Channels[0].Entries, e)
			}
			bounded(t, c, n, strings.Contains(shape, "chain") || strings.Contains(shape, "all replace"))
		})
	}
	t.Run("many channels", func(t *testing.T) {
		n = size
		c := &catalog.Catalog{Packages: []catalog.Package{{Name: "p", DefaultChannel: "c1"}}}
		c.Bundles = append(c.Bundles, catalog.Bundle{Name: name(0), Package: "p", Properties: []catalog.Property{{
			Type: catalog.PropertyPackage, Value: json.RawMessage(`{"packageName":"p","version":"1.0.0"}`),
		}}})
		for i := range n {
			c.Channels = append(c.Channels, catalog.Channel{Name: fmt.Sprintf("c%d", i), Package: "p", Entries: []catalog.Entry{{Name: name(0), SkipRange: "<1.0.0"}}})
		}
		bounded(t, c, n, true)
	})
}

// bounded lets everything be done with a catalog. The bounds are wide, because
// machines differ: looking at every pair would take many times as long.
func bounded(t *testing.T, c *catalog.Catalog, n int, draw bool) {
	t.Helper()
	const held = 1 << 30 // bytes, at the end
	most := must.Within(time.Duration(n) * 150 * time.Microsecond)
	start := processorTime(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	findings := Check(c, Options{Installed: []Installed{{Package: "p", Version: "0.1.0"}, {Package: "p", Version: "1.3.0"}}})
	checked := processorTime(t) - start
	if _, err := Path(c, Query{Package: "p", From: "1.0.0", To: c.Channels[len(c.Channels)-1].Entries[len(c.Channels[0].Entries)-1].Name}); err != nil {
		t.Error(err)
	}
	walked := processorTime(t) - start
	drawn := 0
	if draw {
		drawn = drawBounded(t, c)
	}
	took := processorTime(t) - start
	runtime.ReadMemStats(&after)
	t.Logf("%d entries, %d findings; check %v, path %v, drawings of %d MiB %v, allocated %d MiB", n, len(findings), checked, walked-checked, drawn>>20, took-walked, (after.TotalAlloc-before.TotalAlloc)>>20)
	if took > most && !testing.Short() {
		t.Errorf("it took %v; the most allowed is %v", took, most)
	}
	if more := int64(after.HeapAlloc) - int64(before.HeapAlloc); more > held {
		t.Errorf("it holds %d MiB", more>>20)
	}
	for _, f := range findings {
		if len(f.Message) > 20_000 {
			t.Errorf("a message of %d bytes: %.200s", len(f.Message), f.Message)
		}
	}
}

// processorTime is what the process has used: unlike that of the wall, it does
// not depend on who else is busy.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	must.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// drawBounded draws, or is told that there is too much.
func drawBounded(t *testing.T, c *catalog.Catalog) (size int) {
	t.Helper()
	p, err := NewPicture(c, DrawOptions{V0: true})
	if err != nil {
		t.Log(err)
		return 0
	}
	for _, format := range []Format{Text, Mermaid, DOT, SVG} {
		var out bytes.Buffer
		must.NoError(t, p.Draw(&out, format))
		size += out.Len()
	}
	return size
}
