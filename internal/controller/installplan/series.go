package installplan

import (
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// awayTimeout is how long a plan is tried again while the API server has no time for it. No one sees a plan of a server that does not
// answer at all; where the server takes the status, and not the objects, as where what serves their API is dead, it has to be said at last.
const awayTimeout = 30 * time.Minute

// series are the failures of a plan since it last got on.
type series struct {
	refused   bool          // there was a failure that speaks of the objects
	spent     time.Duration // for how long there has been one, but for the time that the API server was away
	awaySince time.Time     // when the passes began that it was away in, without a break up to the last; zero is that it was not
	last      time.Time     // when the last pass was
}

// failingSince returns when the failures began that a pass is one of: those of an API server that is away, or all others. These are not
// forgotten when the server is away in between, or it could keep a plan from failing for ever; nor does the time count for which it is away.
// What a plan is patient with is no failure in this sense.
func (m *memory) failingSince(key types.NamespacedName, done outcome, now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.of(key).failing
	if done.err == nil || done.isPatient() {
		*s = series{}
		return time.Time{}
	}
	wasAway := !s.awaySince.IsZero()
	switch {
	case !s.refused || wasAway && done.away:
	case wasAway || done.away: // one of the two speaks of the objects
		s.spent += min(now.Sub(s.last), longestPause)
	default:
		s.spent += now.Sub(s.last)
	}
	s.last = now
	if done.away {
		if !wasAway {
			s.awaySince = now
		}
		return s.awaySince
	}
	s.refused, s.awaySince = true, time.Time{}
	return now.Add(-s.spent)
}

// rests says for how long a plan has nothing to be done that failed, and has changed in nothing since but in that its failure was written
// down: that is an event as well, and errors may read otherwise each time. It counts for this event alone: whatever else brings the plan back
// is not told apart, and finds it ready.
func (m *memory) rests(plan *v1alpha1.InstallPlan, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.of(client.ObjectKeyFromObject(plan))
	if p.made == "" || p.made != plan.ResourceVersion {
		return 0
	}
	p.made = ""
	if p.nudged {
		return 0
	}
	return p.due.Sub(now)
}

// timeout is how long failures of the sort of a pass may last.
func (d outcome) timeout(ordinary time.Duration) time.Duration {
	if d.away {
		return max(ordinary, awayTimeout)
	}
	return ordinary
}
