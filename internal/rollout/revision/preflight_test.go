package revision

import (
	"errors"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
)

func contains(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

// TestStop: a refusal says who has to change something, in the words of its cause, which can be told from others.
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		refusal error
		reason  string
	}{
		"something else has to change": {Blocked(errRefused), olmv1.ReasonBlocked},
		"the extension has to change":  {Misconfigured(errRefused), olmv1.ReasonInvalidConfiguration},
	} {
		t.Run(name, func(t *testing.T) {
			wantAnswer(t, c.refusal, errRefused.Error(), c.reason)
			if !errors.Is(c.refusal, errRefused) || c.refusal.Error() != errRefused.Error() {
				t.Errorf("%v has lost its cause", c.refusal)
			}
		})
	}
}

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
		must.Equal(t, name, ProgressDeadlineMinutes(ext), test.want)
	}
}
