package clusterserviceversion

import (
	"errors"

	"fairlead.dev/fairlead/internal/reconcile"
)

// refusal is a failure that trying again does not mend: something has to be changed by somebody first.
type refusal struct{ cause error }

func (r refusal) Error() string { return r.cause.Error() }

// Is lets the cause be found, but not be judged apart from the refusal.
func (r refusal) Is(target error) bool { return errors.Is(r.cause, target) }

func refused(err error) error { return refusal{err} }

// isOurRefusal says whether the failure came from what is asked for itself, not from the cluster.
func isOurRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// isRefusal reports whether a retry is useless as long as nothing else changes. Of several failures all have to be such.
func isRefusal(err error) bool {
	return reconcile.All(err, func(err error) bool { return isOurRefusal(err) || reconcile.IsTerminal(err) })
}
