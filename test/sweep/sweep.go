// Package sweep tells tests of expensive properties how many cases to try: a sample every day, all of them in .ci/nightly. Start reading at Of.
package sweep

import (
	"os"
	"testing"
)

// Variable is set in the environment of a run that tries everything.
const Variable = "FAIRLEAD_TEST_SWEEP"

// Whole reports whether this run tries everything.
func Whole() bool { return os.Getenv(Variable) != "" }

// Of returns how many cases of a property to try: all of them in a run that tries everything, otherwise a sample, and few with -short, as under
// the race detector, which finds in few cases what it finds in many.
func Of(few, sample, all int) int {
	switch {
	case Whole():
		return all
	case testing.Short():
		return few
	}
	return sample
}

// Nightly leaves a test to the run that tries everything. Every day something cheaper holds what it proves: byDay says what.
func Nightly(t testing.TB, byDay string) {
	t.Helper()
	if !Whole() {
		t.Skipf("takes long, and is run by .ci/nightly; every day: %s", byDay)
	}
}
