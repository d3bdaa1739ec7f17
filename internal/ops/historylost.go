package ops

import (
	"errors"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/rollout/revision"
)

// isOther tells whether a revision is of another version, or of another bundle.
func (r *Revision) isOther(from Revision) bool {
	return r.Bundle != from.Bundle || r.Version != from.Version
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
