package catalogstore

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

const (
	mib           = 1 << 20
	hostileBytes  = 16 * mib
	hostileMemory = 8 * mib
	// What a hostile catalog may cost at most, far above what it does on a machine with nothing else to do.
	mostHeap = 200 * mib
	mostTime = time.Minute
)

// TestHostileCatalogsCostLittle: whatever a catalog is made of, reading it takes no more memory and time than the limits are meant for. What
// keeps little of its bytes is read; everything else is refused by name.
func TestHostileCatalogsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("reads some hundred megabytes")
	}
	read := map[string]bool{"payloads": true, "documents": true}
	for _, kind := range bigcatalog.HostileKinds() {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			must.NoError(t, bigcatalog.WriteHostile(dir, kind, hostileBytes))
			c := newCache(t)
			c.Limits = catalog.Limits{TotalBytes: 4 * hostileBytes, MemoryBytes: hostileMemory, DocumentBytes: 8 * mib}
			if read[kind] {
				c.Limits.MemoryBytes = 64 * mib // for 20,000 entries
			}
			peak := heapPeak()
			start := time.Now()
			x, err := c.FS(t.Context(), kind, os.DirFS(dir))
			took, most := time.Since(start), peak()
			var exceeded *catalog.LimitError
			switch {
			case read[kind] && err != nil, !read[kind] && !errors.As(err, &exceeded):
				t.Errorf("it is read: %t, error %v", x != nil, err)
			case x != nil:
				defer x.Close()
			}
			if took > mostTime || most > mostHeap {
				t.Errorf("it took %s and %d MiB", took, most/mib)
			}
			t.Logf("%s, %d MiB: %v", took.Round(time.Millisecond), most/mib, err)
		})
	}
}

// heapPeak begins to watch the heap. The function that it returns ends that, and returns by how much it grew at most.
func heapPeak() func() uint64 {
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapInuse
	}
	runtime.GC()
	before := heap()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		peak := before
		for {
			select {
			case <-stop:
				most <- max(peak, before) - before
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, heap())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-most
	}
}
