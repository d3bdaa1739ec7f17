package clusterextension

import (
	"errors"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// outcome is what came of a pass.
type outcome struct {
	// resolved is what the catalogs have to offer; nil when they were not asked.
	resolved *resolution.ExtensionResult
	// conflict is why they have nothing, although what is installed stays; nil when they have.
	conflict *resolution.Conflict
	// problem is what is in the way of the desired state. A *revision.Refusal stays until something is changed.
	problem error
	// lost is why it is not known what is installed; nil when that is known.
	lost error
	// waits is true when catalogs were not asked, because one is still being loaded: what was reported of them stands.
	waits bool
	// leaving is true when the extension is being deleted.
	leaving bool
	// doing is what goes on without anything that could be looked at in the cluster, such as a download.
	doing string
	// reason is why a revision is written, for the log.
	reason string
	// made is the revision that was written in this pass, and is not among those observed.
	made *olmv1.ClusterObjectSet
	// advice is what can be done about a conflict, or is being done about it.
	advice []string
	// notes are remarks on a state that is as it should be.
	notes []string
	// leftOut is what of catalogs cannot be used and could have changed what is chosen.
	leftOut []string
	// unmet is what the installed bundle needs of other extensions, and they do not have.
	unmet []string
	// verifies is true where a signature policy is configured.
	verifies bool
	// again is when to look again although nothing changes; zero for never.
	again time.Duration
}

// stopped returns the problem as a refusal, if it is one.
func (o *outcome) stopped() *revision.Refusal {
	var s *revision.Refusal
	errors.As(o.problem, &s)
	return s
}

// soonest notes to look again after a while, unless that is due before anyway.
func (o *outcome) soonest(after time.Duration) {
	o.again = reconcile.Sooner(o.again, after)
}
