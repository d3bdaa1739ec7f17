package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/schedule"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Standing is how far a ClusterExtension is.
type Standing struct {
	// Done: what its spec asks for is installed, and works.
	Done bool
	// Stopped: nothing more happens until a user changes something.
	Stopped bool
	// Reason and Message say what is being done or in the way.
	Reason, Message string
	// Held is why an upgrade waits for its window, while what is installed works; empty where none does.
	Held string
}

// Stand tells how far a ClusterExtension is, by its conditions alone. Those of an older spec, or of other annotations, do not count.
func Stand(e *olmv1.ClusterExtension) Standing {
	find := func(kind string) *metav1.Condition { return meta.FindStatusCondition(e.Status.Conditions, kind) }
	progressing, installed, available := find(olmv1.TypeProgressing), find(olmv1.TypeInstalled), find(olmv1.TypeAvailable)
	if progressing == nil || progressing.ObservedGeneration < e.Generation || !olmv1.SeesAnnotations(e) {
		return Standing{Reason: "Waiting", Message: "ClusterExtension not reconciled yet; is the manager running?"}
	}
	s := Standing{Reason: progressing.Reason, Message: progressing.Message, Stopped: progressing.Status == metav1.ConditionFalse}
	if stalled := find(reconcile.TypeStalled); stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.ObservedGeneration >= e.Generation {
		s.Stopped = true
	}
	if progressing.Reason != olmv1.ReasonSucceeded || s.Stopped || installed == nil {
		return s
	}
	switch {
	case installed.Status != metav1.ConditionTrue:
		s.Reason, s.Message = installed.Reason, installed.Message
	case available != nil && available.Status != metav1.ConditionTrue:
		s.Reason, s.Message = available.Reason, available.Message
	default:
		s.Done = true
		for line := range strings.Lines(progressing.Message) {
			if schedule.IsMessage(line) {
				s.Held = strings.TrimSpace(line)
			}
		}
	}
	return s
}

// elsewhere are the reasons of Ready that an object ends which a person has to create: a catalog, or what a dependency comes from.
var elsewhere = []string{string(resolution.NoCatalog), string(resolution.DependencyMissing)}

// patience is how long such a reason lasts until a wait for it ends: what is missing may be on its way, as with files that are applied together.
const patience = 10 * time.Second

// standstill measures how long the same reason has lasted, in polls of a wait: a busy machine polls less often, and takes longer for everything else.
type standstill struct {
	text  string
	polls int
}

// over reports whether a reason that another object ends has lasted for too long.
func (s *standstill) over(reason, message string) bool {
	if text := reason + ": " + message; text != s.text {
		*s = standstill{text: text}
	}
	s.polls++
	return slices.Contains(elsewhere, reason) && s.polls > int(patience/pollInterval)
}

// notReady is the reason why an extension is not ready, where that is of its spec.
func notReady(e *olmv1.ClusterExtension) string {
	if ready := meta.FindStatusCondition(e.Status.Conditions, reconcile.TypeReady); ready != nil && ready.ObservedGeneration >= e.Generation {
		return ready.Reason
	}
	return ""
}

// WaitExtension returns when what a ClusterExtension asks for is installed and works. Whenever the reason why it is not changes, tell is
// called with it. When the context ends first, the error says what the last reason was; where nothing more happens by itself, or what is missing does
// not come within a few seconds, it is a *StoppedError.
func WaitExtension(ctx context.Context, reader client.Reader, name string, tell func(reason, message string)) (*olmv1.ClusterExtension, error) {
	last := Stand(&olmv1.ClusterExtension{}) // which is nothing to tell of yet
	var lasting standstill
	var found finding
	for {
		e := &olmv1.ClusterExtension{}
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, e); err != nil && !over(ctx) {
			return nil, fmt.Errorf("get ClusterExtension %s: %w", name, err)
		} else if err == nil {
			s := Stand(e)
			if s.Done {
				return e, nil
			}
			stopped := ""
			if s.Stopped {
				stopped = s.Reason + ": " + s.Message
			}
			if found.believe(stopped) || lasting.over(notReady(e), s.Message) {
				return e, &StoppedError{olmv1.ClusterExtensionKind + " " + name, cmp.Or(notReady(e), s.Reason), s.Message}
			}
			if s != last {
				last = s
				tell(s.Reason, s.Message)
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for ClusterExtension %s: it is not ready: %s", name, last.Message)
		case <-time.After(pollInterval):
		}
	}
}
