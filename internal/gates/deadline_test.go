package gates

import "testing"

// TestProgressDeadline is the default one only where an extension goes back and names no other.
func TestProgressDeadline(t *testing.T) {
	for name, test := range map[string]struct {
		back bool
		asks int32
		want int32
	}{
		"neither":    {false, 0, 0},
		"a deadline": {false, 30, 30},
		"going back": {true, 0, RollbackDeadlineMinutes},
		"both":       {true, 30, 30},
	} {
		ext := kite()
		if test.back {
			ext = kite(OnFailureKey, OnFailureRollback)
		}
		ext.Spec.ProgressDeadlineMinutes = test.asks
		if got := ProgressDeadlineMinutes(ext); got != test.want {
			t.Errorf("%s: %d minutes, want %d", name, got, test.want)
		}
	}
}
