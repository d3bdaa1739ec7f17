package clusterserviceversion

import (
	"slices"
	"strings"

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

// matches says whether the row is about the state.
func (t *transition) matches(s state) bool {
	return slices.Contains(t.from, s.phase) && (len(t.reasons) == 0 || slices.Contains(t.reasons, s.reason))
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

// text is the message of the row; old is what the status says so far.
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
		if !row.matches(s) {
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
