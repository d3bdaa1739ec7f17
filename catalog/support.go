package catalog

import (
	"time"

	"fairlead.dev/fairlead/version"
)

// SupportState reports whether a version is supported at some time.
type SupportState string

// The states of support.
const (
	SupportNoData  SupportState = "NoData"      // the catalog says nothing about the version, or about the time
	SupportNotYet  SupportState = "NotYet"      // no phase has begun
	Supported      SupportState = "Supported"   // in a phase
	SupportBetween SupportState = "Interrupted" // one phase is over, and the next has not begun
	SupportEnded   SupportState = "Ended"       // every phase is over
)

// Support is how a version is supported at some time.
type Support struct {
	State SupportState `json:"state"`
	// Phase is the one it is in. When all are over it is the last, and before any it is the first.
	Phase string `json:"phase,omitempty"`
	// Ends is when the last phase is over, and Changes when Phase or State changes next; both are zero when that is not known or does not happen.
	Ends    time.Time `json:"ends,omitzero"`
	Changes time.Time `json:"changes,omitzero"`
}

// noSupportData is what is said where a catalog says nothing.
const noSupportData = "no data"

// Support is how a version is supported at a time. Of phases that overlap the one that began last counts.
func (l Lifecycle) Support(v version.VersionRelease, at time.Time) Support {
	found := l.version(v)
	if found == nil || len(found.Phases) == 0 {
		return Support{State: SupportNoData}
	}
	out := Support{State: SupportNoData}
	open, over := false, false
	var current, last, next *LifecyclePhase
	for i := range found.Phases {
		p := &found.Phases[i]
		open = open || p.End.IsZero()
		if p.End.After(out.Ends) {
			out.Ends, last = p.End, p
		}
		switch {
		case p.Start.After(at):
			if next == nil {
				next = p
			}
			out.changesAt(p.Start)
		case !p.End.IsZero() && !p.End.After(at):
			over = true
		default:
			current = p
			if !p.End.IsZero() {
				out.changesAt(p.End)
			}
		}
	}
	if open {
		out.Ends = time.Time{}
	}
	switch {
	case current != nil:
		out.State, out.Phase = Supported, current.Name
	case next != nil && over:
		out.State, out.Phase = SupportBetween, next.Name
	case next != nil:
		out.State, out.Phase = SupportNotYet, next.Name
	default:
		out.State, out.Phase = SupportEnded, last.Name
	}
	return out
}

// changesAt notes a change, if it is the first.
func (s *Support) changesAt(t time.Time) {
	if s.Changes.IsZero() || t.Before(s.Changes) {
		s.Changes = t
	}
}

// String says it in a few words: the phase, and the last day of support.
func (s Support) String() string {
	ends := ""
	if !s.Ends.IsZero() { // what ends when a day begins was supported until the day before
		ends = s.Ends.Add(-time.Nanosecond).UTC().Format(time.DateOnly)
	}
	switch s.State {
	case Supported:
		if ends == "" {
			return s.Phase
		}
		return s.Phase + ", supported until " + ends
	case SupportEnded:
		return "support ended on " + ends
	case SupportNotYet:
		return "not supported yet"
	case SupportBetween:
		return "not supported until " + s.Phase + " begins"
	}
	return noSupportData
}
