package crd

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// BenchmarkCheck looks at 10,000 objects of the tests' cluster, and prints how many a second and the most memory in use meanwhile.
func BenchmarkCheck(b *testing.B) {
	const objects = 10_000
	w := newWorld(b)
	live := w.install(w.crd(versionYAML("v1 served stored", anySize)))
	w.fill("v1", 0, objects, w.wide(int64(4), int64(5), int64(6)))
	wanted := w.crd(versionYAML("v1 served stored", "{type: integer, maximum: 5, x-kubernetes-validations: [{rule: self > 0}]}"))
	var most atomic.Uint64
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		for ctx.Err() == nil {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most.Store(max(most.Load(), now.HeapAlloc))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	for b.Loop() {
		c := must.Value(NewScan(w, live, wanted, []string{"v1"}, nil))(b)
		for !c.Done() {
			must.NoError(b, c.Advance(b.Context(), 1))
		}
		if c.Objects != objects || c.Invalid != 3333 {
			b.Fatalf("%d of %d are invalid", c.Invalid, c.Objects)
		}
	}
	b.ReportMetric(float64(objects)*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
	b.ReportMetric(float64(most.Load()-min(most.Load(), before.HeapAlloc))/(1<<20), "MiB-more-heap")
}

// BenchmarkMigration rewrites 2,000 objects that are stored in another version.
func BenchmarkMigration(b *testing.B) {
	const objects = 2000
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b)
		live := turnedOff(w, objects)
		b.StartTimer()
		m := Migration{Client: w, Reader: w, Live: live, Leaving: []string{"v1alpha1"}, Now: later()}
		if p, err := m.Advance(b.Context(), 100); err != nil || !p.Done {
			b.Fatalf("%+v, %v", p, err)
		}
	}
	b.ReportMetric(float64(objects)*float64(b.N)/b.Elapsed().Seconds(), "objects/s")
}
