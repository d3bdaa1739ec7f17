package resolution

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"
)

// The figures that a decision has to keep to on 2 cores, and what another implementation takes, in milliseconds. The benchmarks print
// them side by side.
var bounds = struct{ fresh, unmet, thirty, hundred, explained figure }{
	fresh:     figure{bound: 5, others: 78},
	unmet:     figure{bound: 20, others: 2200},
	thirty:    figure{bound: 80, others: 8000},
	hundred:   figure{bound: 250, others: 20_100, megabytes: 64},
	explained: figure{bound: 500, megabytes: 300},
}

type figure struct{ bound, others, megabytes float64 }

// slack is how much slower than the 2 cores of the figures a machine may be for the tests: they are to fail when a decision has got slow,
// not where the machine is. What is counted, steps and bytes, has no slack.
const slack = 4

// processorTime is what this process has used. On a machine that does other things besides, it tells more than the time of day.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	must.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// eachExplained tells whether every Subscription has a minimal explanation of its own.
func eachExplained(r NamespaceResult) bool {
	for _, g := range r.Groups {
		var none *Conflict
		if !errors.As(g.Err, &none) || !none.core.Minimal || len(g.Subscriptions) != 1 {
			return false
		}
	}
	return len(r.Groups) == 100
}

// TestBounds holds decisions to their figures. The time is the best of five, if it takes as many.
func TestBounds(t *testing.T) {
	// A catalog as large as the largest public one, and a package "long" with a channel of 85 entries, of which all but the oldest
	// need what nobody has.
	shape, all := bigcatalog.Full, &catalog.Catalog{}
	shape.BundleBytes = 1 // what is in bundles has no part in decisions
	for i := range shape.Packages {
		c := bigcatalog.Package(shape, i)
		all.Packages = append(all.Packages, c.Packages...)
		all.Channels = append(all.Channels, c.Channels...)
		all.Bundles = append(all.Bundles, c.Bundles...)
	}
	generatedPackage(all, 999, 85, catalog.Property{Type: catalog.PropertyGVKRequired, Value: generatedAPI(1000)})
	oldest := &all.Bundles[len(all.Bundles)-85]
	oldest.Properties = oldest.Properties[:2]
	x, unsolvable := generatedIndex(t, all), generated(t, 200, 25)
	names := x.PackageNames()
	together := subscribe(unsolvable, unsolvable.PackageNames()[100:]...)
	together.Together = true
	for name, test := range map[string]struct {
		in    NamespaceRequest
		is    figure
		steps int // at most
		check func(NamespaceResult) bool
	}{
		"one fresh install":                        {subscribe(x, names[150]), bounds.fresh, 500, solved},
		"85 entries and an unmet requirement":      {subscribe(x, "package999"), bounds.unmet, 2000, holdsBack},
		"30 Subscriptions":                         {subscribe(x, names[100:130]...), bounds.thirty, 12_000, anyResult},
		"100 Subscriptions":                        {subscribe(x, names[100:200]...), bounds.hundred, 40_000, anyResult},
		"100 Subscriptions without answer at once": {together, bounds.explained, 100_000, failed},
		// each has an explanation of its own, over up to 100 packages of 25 versions
		"100 Subscriptions without answer one by one": {subscribe(unsolvable, unsolvable.PackageNames()[100:]...), bounds.explained, 15_000_000, eachExplained},
	} {
		t.Run(name, func(t *testing.T) {
			limit := time.Duration(slack * test.is.bound * float64(time.Millisecond))
			best := time.Hour
			var result NamespaceResult
			var before, after runtime.MemStats
			for run := 0; run < 5 && best > limit; run++ {
				runtime.ReadMemStats(&before)
				start, used := time.Now(), processorTime(t)
				var err error
				if result, err = Namespace(context.Background(), test.in); err != nil {
					t.Fatal(err)
				}
				best = min(best, time.Since(start), processorTime(t)-used)
				runtime.ReadMemStats(&after)
			}
			if !test.check(result) {
				t.Fatal("not the kind of answer that is measured")
			}
			// The work that the solver did for what was decided, and to find out why something cannot be.
			sum := 0
			for _, p := range result.parts {
				sum += p.solution.Steps
				var none *Conflict
				if errors.As(p.group.Err, &none) {
					sum += none.core.Steps
				}
			}
			steps, megabytes := sum, float64(after.TotalAlloc-before.TotalAlloc)/1e6
			t.Logf("%v (bound %v ms), %d steps, %.1f MB", best, test.is.bound, steps, megabytes)
			if best > limit {
				t.Errorf("it took %v, more than %v", best, limit)
			}
			if steps > test.steps {
				t.Errorf("it took %d steps, more than %d", steps, test.steps)
			}
			if most := test.is.megabytes; most > 0 && megabytes > most {
				t.Errorf("it allocated %.1f MB, more than %.0f", megabytes, most)
			}
		})
	}
}
