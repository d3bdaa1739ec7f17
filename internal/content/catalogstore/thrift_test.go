package catalogstore

import (
	"runtime/debug"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestThriftEndsWithTheLastReader and leaves the collector as it was.
func TestThriftEndsWithTheLastReader(t *testing.T) {
	percent := func() int {
		now := debug.SetGCPercent(100)
		debug.SetGCPercent(now)
		return now
	}
	for before, reading := range map[int]int{100: thriftyPercent, 300: thriftyPercent, 10: 10, -1: thriftyPercent} {
		was := debug.SetGCPercent(before)
		first, second := thrifty(), thrifty()
		if got := percent(); got != reading {
			t.Errorf("from %d, while two read it is %d, want %d", before, got, reading)
		}
		first()
		first()
		if got := percent(); got != reading {
			t.Errorf("from %d, while one reads it is %d, want %d", before, got, reading)
		}
		second()
		must.Equal(t, "afterwards it", percent(), before)
		debug.SetGCPercent(was)
	}
}
