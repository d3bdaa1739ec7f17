package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

type (
	phase  = v1alpha1.ClusterServiceVersionPhase
	reason = v1alpha1.ConditionReason
)

// state is where a ClusterServiceVersion stands.
type state struct {
	phase  phase
	reason reason
}

// transition is one row of the table: from any of the phases (and of the reasons, where there are some), when the
// observation holds, do something and go somewhere.
type transition struct {
	from    []phase
	reasons []reason
	when    observation
	do      action
	// to is empty when the phase stays, because is empty when the reason stays.
	to      phase
	because reason
	// message is empty when the message stays. {detail} stands for the detail of the finding.
	message string
	// rest ends the pass, even where the table has a row for the new state too: what follows makes sense only once
	// something in the cluster has changed.
	rest bool
}

// next is the state that the row leads to.
func (t *transition) next(s state) state {
	if t.to != "" {
		s.phase = t.to
	}
	if t.because != "" {
		s.reason = t.because
	}
	return s
}

// text is the message of the row; old is the message so far.
func (t *transition) text(f finding, old string) string {
	switch {
	case t.message == "":
		return old
	case f.detail == "":
		return strings.TrimSuffix(t.message, ": {detail}")
	default:
		return strings.ReplaceAll(t.message, "{detail}", f.detail)
	}
}

// decide picks the first row about the state whose observation holds; nil when there is none and nothing is to be done.
func decide(s state, look func(observation) (finding, error)) (*transition, finding, error) {
	for i := range table {
		row := &table[i]
		if !(slices.Contains(row.from, s.phase) && (len(row.reasons) == 0 || slices.Contains(row.reasons, s.reason))) {
			continue
		}
		f, err := look(row.when)
		if err != nil {
			return nil, seenNot, err
		}
		if f.holds {
			return row, f, nil
		}
	}
	return nil, seenNot, nil
}

// errUnsettled means that the table leads back to where a pass has been already. The pass stops there and is repeated
// with back-off.
var errUnsettled = errors.New("the state does not settle")

// surroundings are what a pass observes and acts on.
type surroundings interface {
	look(context.Context, observation) (finding, error)
	do(context.Context, action) error
}

// step is a state that a pass went to, with the message of the time.
type step struct {
	state
	message string
}

// walk follows the table from the status until nothing changes any more, or until a row rests, and brings the status
// to where it ends. The steps are those of the history. What was reached before an error stays.
func walk(ctx context.Context, s *v1alpha1.ClusterServiceVersionStatus, around surroundings, now metav1.Time) ([]step, error) {
	var steps []step
	entered, acted := map[state]bool{}, map[action]bool{}
	for {
		at := stateOf(s)
		row, found, err := decide(at, func(o observation) (finding, error) { return around.look(ctx, o) })
		if err != nil || row == nil {
			return steps, err
		}
		if row.do != none {
			if acted[row.do] {
				return steps, fmt.Errorf("%w: %s is needed again and again (%s)", errUnsettled, row.do, found.detail)
			}
			acted[row.do] = true
			if err := around.do(ctx, row.do); err != nil {
				return steps, err
			}
		}
		next, message := row.next(at), row.text(found, s.Message)
		moved := next != at
		if moved && entered[next] {
			return steps, fmt.Errorf("%w: %s/%s comes again (%s)", errUnsettled, next.phase, next.reason, message)
		}
		entered[next] = true
		if moved || message != s.Message {
			s.SetPhase(next.phase, next.reason, message, now)
		}
		if moved {
			steps = append(steps, step{next, message})
		}
		if row.rest || !moved && row.do == none {
			return steps, nil
		}
	}
}

// stateOf reads the state; a phase that the table does not know is taken for none, so that it is found out again.
func stateOf(s *v1alpha1.ClusterServiceVersionStatus) state {
	switch s.Phase {
	case toPending, toInstallReady, toInstalling, toSucceeded, toFailed, toReplacing, toDeleting:
		return state{s.Phase, s.Reason}
	default:
		return state{toNone, s.Reason}
	}
}

// settle takes the steps of a pass back that ended in the state where it began: nothing has changed for those who
// watch. What remains is a new message, if there is one, and the time where a rollout began, which has its own until it is late.
func settle(before, after *v1alpha1.ClusterServiceVersionStatus, steps []step, rolloutBegan bool) []step {
	if before.Phase != after.Phase || before.Reason != after.Reason {
		return steps
	}
	after.Conditions = before.Conditions
	if rolloutBegan && after.Phase == toInstalling {
		return nil
	}
	after.LastTransitionTime = before.LastTransitionTime
	if before.Message == after.Message {
		after.LastUpdateTime = before.LastUpdateTime
	}
	return nil
}

// report adds to the status what a pass found out besides the state, and reports whether there is anything to write.
func report(before, after *v1alpha1.ClusterServiceVersionStatus, seen *snapshot, now metav1.Time) bool {
	if checked := seen.requirementsRead; checked.known {
		after.RequirementStatus = checked.value.rows
	}
	// When the first certificate is due for renewal; zero when there is none.
	var first time.Time
	for _, c := range seen.certificatesRead.value {
		if at, err := c.Current.RotateAt(); err == nil && c.held == nil && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		rotate := metav1.NewTime(first).Rfc3339Copy()
		after.CertsRotateAt = &rotate
	}
	if seen.done.issued || after.CertsRotateAt != nil && after.CertsLastUpdated == nil {
		after.CertsLastUpdated = now.DeepCopy()
	}
	judge(after, seen.csv.Generation, now)
	if equality.Semantic.DeepEqual(before, after) {
		return false
	}
	after.LastUpdateTime = now.DeepCopy()
	return true
}
