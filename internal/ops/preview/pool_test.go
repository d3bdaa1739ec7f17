package preview

import (
	"fmt"
	"runtime"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestPool: equal packages of two answers are one, others are not, and what no answer has is not kept.
func TestPool(t *testing.T) {
	read := func(description string, priority int32) Answer {
		return Answer{Packages: []*Package{{Name: "kite", Catalog: "toys", Description: description, priority: priority, Versions: []Version{{Version: "1.0.0"}}}}}
	}
	var p Pool
	first, same, other, preferred := read("flies", 0), read("flies", 0), read("sinks", 0), read("flies", 5)
	for _, a := range []*Answer{&first, &same, &other, &preferred} {
		must.NoError(t, p.Share(a))
	}
	if first.Packages[0] != same.Packages[0] {
		t.Error("equal packages are two")
	}
	must.Equal(t, "another description", other.Packages[0].Description, "sinks")
	must.Equal(t, "another priority", preferred.Packages[0].priority, 5)
	for i := range 5 * minSweep {
		a := read(fmt.Sprint(i), 0)
		must.NoError(t, p.Share(&a))
		if i%minSweep == 0 {
			runtime.GC()
		}
	}
	if len(p.kept) > 3*minSweep {
		t.Errorf("%d packages are kept, though no answer has them", len(p.kept))
	}
	runtime.KeepAlive(first)
}
