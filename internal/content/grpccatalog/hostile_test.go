package grpccatalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

func buffers(text []byte) mem.BufferSlice { return mem.BufferSlice{mem.SliceBuffer(text)} }

// mostHeap runs f, and returns how much more the heap had meanwhile, garbage included.
func mostHeap(f func()) int64 {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	done, most := make(chan struct{}), int64(0)
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&now)
				most = max(most, int64(now.HeapAlloc)-int64(before.HeapAlloc))
			}
		}
	})
	f()
	close(done)
	wait.Wait()
	return most
}

// TestHostileServers: what one server says costs little before it is refused, also where its messages are made to cost the most.
func TestHostileServers(t *testing.T) {
	const most = 160 << 20 // with what the server itself takes
	for kind, want := range map[string]string{
		"server-channels":   "larger than max",
		"server-properties": "larger than max",
		"server-values":     "more than the 300000 that are read",
		"server-entries":    "takes more memory than the limit (MemoryBytes is 33554432",
	} {
		t.Run(kind, func(t *testing.T) {
			address := bigcatalog.ServeHostile(t, kind)
			c, err := Dial(address, Options{Memory: 32 << 20})
			must.NoError(t, err)
			defer c.Close()
			took := mostHeap(func() { _, err = c.Write(t.Context(), io.Discard) })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %.300v, want %q", err, want)
			}
			if kind == "server-entries" {
				var exceeded *catalog.LimitError
				if !errors.As(err, &exceeded) || exceeded.Limit != "MemoryBytes" {
					t.Errorf("got %v, want the limit on memory", err)
				}
				if took > most {
					t.Errorf("it took %d MiB, want at most %d", took>>20, most>>20)
				}
			}
			for name, turns := range map[string]turn{"reading": c.turns.reading, "heavy": c.turns.heavy, "large": c.turns.large} {
				must.Empty(t, name, turns)
			}
		})
	}
}

// TestCostlyMessagesAreNotDecoded: what is within the bound on what is sent, and not within that on what it takes.
func TestCostlyMessagesAreNotDecoded(t *testing.T) {
	for name, test := range map[string]struct {
		message proto.Message
		bound   bound
		refused bool
	}{
		"channels of a package": {&registry.Package{Channels: make([]*registry.Channel, 100_000)}, packageBound, true},
		"properties":            {&registry.Bundle{Properties: make([]*registry.Property, 1_000_000)}, bundleBound, true},
		"APIs":                  {&registry.Bundle{RequiredApis: make([]*registry.GroupVersionKind, 1_000_000)}, bundleBound, true},
		"skips":                 {&registry.Bundle{Skips: make([]string, 2_000_000)}, bundleBound, true},
		"a large package":       {&registry.Package{Channels: make([]*registry.Channel, 1000)}, packageBound, false},
		"a large bundle":        {&registry.Bundle{CsvJson: strings.Repeat("x", 7<<20), Skips: make([]string, 10_000)}, bundleBound, false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := proto.Marshal(test.message)
			if err != nil || len(text) > test.bound.wire {
				t.Fatalf("it has %d bytes, more than %d are never received (%v)", len(text), test.bound.wire, err)
			}
			cost, err := costOf(text, test.message.ProtoReflect().Descriptor(), test.bound.decoded)
			if (err != nil) != test.refused {
				t.Fatalf("%d bytes cost %d: %v, want that it is refused: %t", len(text), cost, err, test.refused)
			}
			if test.refused {
				return
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			decoded := test.message.ProtoReflect().New().Interface()
			must.NoError(t, proto.Unmarshal(text, decoded))
			runtime.ReadMemStats(&after)
			if took := int(after.TotalAlloc - before.TotalAlloc); took > 2*cost {
				t.Errorf("it took %d bytes to decode it, and counts as %d", took, cost)
			}
		})
	}
}

// TestWhatIsKeptIsCounted: what stays in memory of packages, channels and entries is no more than what is counted.
func TestWhatIsKeptIsCounted(t *testing.T) {
	ctx, nothing := t.Context(), func() {}
	for name, add := range map[string]func(g *gatherer, i int) error{
		"packages": func(g *gatherer, i int) error {
			return g.addPackage(ctx, &registry.Package{Name: fmt.Sprint(i)}, nothing)
		},
		"channels": func(g *gatherer, i int) error {
			return g.addPackage(ctx, &registry.Package{Name: fmt.Sprint(i), Channels: []*registry.Channel{{Name: "a"}, {Name: "b"}, {Name: "c", CsvName: "x"}}}, nothing)
		},
		"entries": func(g *gatherer, i int) error { return g.addEntry(ctx, nil, entry(fmt.Sprintf("a.v%d", i)), nothing) },
		"skips": func(g *gatherer, i int) error {
			b := entry("a.v1")
			b.Skips = strings.Split(strings.Repeat(fmt.Sprint(i)+",", 50), ",")
			return g.addEntry(ctx, nil, b, nothing)
		},
		"deprecations": func(g *gatherer, i int) error {
			return g.addPackage(ctx, &registry.Package{Name: fmt.Sprint(i), Deprecation: &registry.Deprecation{}, Channels: []*registry.Channel{{Deprecation: &registry.Deprecation{}}}}, nothing)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGatherer(io.Discard, NewTurns(), 64<<20)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var err error
			for i := 0; err == nil && i < 20_000; i++ {
				err = add(g, i)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			t.Logf("%d MiB kept, %d MiB counted", took>>20, g.kept>>20)
			if took > g.kept {
				t.Errorf("it keeps %d bytes, and counts %d", took, g.kept)
			}
			runtime.KeepAlive(g)
		})
	}
}

// TestOneCatalogKeepsMuch: another one waits until the first is read, without the turn of the message that it holds.
func TestOneCatalogKeepsMuch(t *testing.T) {
	turns := NewTurns()
	first, second := newGatherer(io.Discard, turns, 64<<20), newGatherer(io.Discard, turns, 64<<20)
	never := func() { t.Error("the first one waits") }
	must.NoError(t, first.keep(t.Context(), func() {}, smallKept+1))
	must.NoError(t, first.keep(t.Context(), never, 1))
	must.NoError(t, second.keep(t.Context(), never, smallKept))
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	released := false
	if err := second.keep(soon, func() { released = true }, 1); !errors.Is(err, context.DeadlineExceeded) || !released {
		t.Errorf("beside the first: %v, released %t, want that it waits", err, released)
	}
	first.close()
	must.NoError(t, second.keep(t.Context(), func() {}, 1))
	second.close()
	must.Empty(t, "a turn is still held", turns.large)
}

// TestSlowServersHoldNoTurns: costly messages are decoded while others are waited for, also by many at once.
func TestSlowServersHoldNoTurns(t *testing.T) {
	c := &Client{turns: NewTurns()}
	for range maxHeavy {
		must.NoError(t, c.turns.heavy.begin(t.Context()))
	}
	text := must.Value(proto.Marshal(&registry.Bundle{CsvJson: strings.Repeat("x", 2*heavy)}))(t)
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	d := c.decoder(soon, bundleBound)
	if err := d.Unmarshal(buffers(text), &registry.Bundle{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a costly message beside others: %v, want that it waits", err)
	}
	must.NoErrorf(t, c.decoder(t.Context(), packageBound).Unmarshal(buffers(nil), &registry.Package{}), "a small message beside costly ones")
	c.turns.heavy.end()
	d = c.decoder(t.Context(), bundleBound)
	must.NoErrorf(t, d.Unmarshal(buffers(text), &registry.Bundle{}), "when one is done: turns held")
	must.Equal(t, "when one is done: turns held", len(c.turns.heavy), maxHeavy)
	d.release()
	d.release()
	must.Equal(t, "turns held after the release", len(c.turns.heavy), maxHeavy-1)
}
