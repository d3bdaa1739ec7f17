package installplan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/preflight/crdupgrade"
	"fairlead.dev/fairlead/internal/stored"
)

// pagesRewritten is how many pages of objects a pass rewrites; then the plan says how far it is.
const pagesRewritten = 2

// migrate has the objects of a CRD rewritten that may be stored in versions which go.
func (x *execution) migrate(ctx context.Context, c *Controller, s *crdStep) {
	if len(s.verdict.Leaving) == 0 {
		return
	}
	m := stored.Migration{Client: c.client, Reader: c.live, Live: s.upgrade.Live, Leaving: s.verdict.Leaving, Now: c.Clock.Now()}
	progress, err := m.Advance(ctx, pagesRewritten)
	if err != nil {
		err = fmt.Errorf("upgrade %s %s: %w", crdKind, m.Live.Name, err)
		var stuck *stored.RewriteError
		if errors.As(err, &stuck) {
			err = fmt.Errorf("risk of data loss updating %q: %w", m.Live.Name, stuck)
		}
		s.result.fail(err)
		return
	}
	if progress.Done {
		return
	}
	s.result.waiting = fmt.Sprintf("%s %s: the new one does not have version %s any more, so the objects that may be stored in it are rewritten as %s: "+
		"%d done, about %d to go", crdKind, m.Live.Name, strings.Join(m.Leaving, ", "), crdupgrade.StorageVersion(m.Live), progress.Rewritten, progress.Left)
}
