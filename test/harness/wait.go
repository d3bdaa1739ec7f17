package harness

import (
	"testing"
	"time"
)

// Patience is how long tests wait for what takes a few seconds on an idle machine.
const Patience = 2 * time.Minute

// Eventually waits until a check finds nothing to complain about, and returns how long that took.
func Eventually(t testing.TB, what string, check func() error) time.Duration {
	t.Helper()
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		if err == nil {
			return time.Since(start)
		}
		if time.Since(start) > Patience {
			t.Fatalf("wait for %s: not after %s: %v", what, Patience, err)
		}
	}
}
