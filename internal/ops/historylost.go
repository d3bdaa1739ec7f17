package ops

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/revision"
)

// isOther tells whether a revision is of another version, or of another bundle.
func (r *Revision) isOther(from Revision) bool {
	return r.Bundle != from.Bundle || r.Version != from.Version
}

// passed are the revisions between the newest one and one further back that would have been gone back to, had they not lost their content.
func (h *History) passed(target int64) []string {
	var all []string
	for _, r := range h.Revisions[1:] {
		if r.Number > target && len(r.Lost) > 0 && r.isOther(h.Revisions[0]) && r.State != Failed {
			all = append(all, fmt.Sprintf("revision %d is passed over: %s", r.Number, &revision.LostContentError{Losses: r.Lost}))
		}
	}
	return all
}

// instead is what to do where the content of a revision is lost.
func (h *History) instead(err error, target int64) string {
	if !errors.As(err, new(*revision.LostContentError)) {
		return ""
	}
	var others []string
	for _, r := range h.Revisions[1:] {
		if r.Number != target && len(r.Lost) == 0 {
			others = append(others, strconv.FormatInt(r.Number, 10))
		}
	}
	if len(others) == 0 {
		return "; " + revision.Restore
	}
	return "; " + revision.Restore + ", or go back to revision " + strings.Join(others, " or ")
}
