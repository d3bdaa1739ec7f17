package extensioncmd

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/internal/rollout/revision"
)

// The bounds of spec.progressDeadlineMinutes.
const (
	minDeadline = 10 * time.Minute
	maxDeadline = 720 * time.Minute
)

// failing is when a rollout counts as failed, and what comes of that: two flags of install and upgrade.
type failing struct {
	rollback bool
	deadline time.Duration
}

func (f *failing) flags(flags *pflag.FlagSet) {
	flags.BoolVar(&f.rollback, "rollback-on-failure", false, fmt.Sprintf("v1: go back to what was installed when an upgrade fails; one that takes longer than --progress-deadline, by default %d minutes then, has", revision.RollbackDeadlineMinutes))
	flags.DurationVar(&f.deadline, "progress-deadline", 0, "v1: how long a rollout may take before it counts as failed, in whole minutes from 10m to 12h (default: no limit)")
}

// check refuses what the API server would.
func (f *failing) check() error {
	if d := f.deadline; d != 0 && (d < minDeadline || d > maxDeadline || d%time.Minute != 0) {
		return fmt.Errorf("--progress-deadline %s: give whole minutes from %s to %s", d, minDeadline, maxDeadline)
	}
	return nil
}

// minutes is the progress deadline to ask for; 0 is none.
func (f *failing) minutes() int32 {
	if f.deadline == 0 && f.rollback {
		return revision.RollbackDeadlineMinutes
	}
	return int32(f.deadline / time.Minute)
}
