// Package clusterversion remembers the version of the cluster for controllers that look at it in every pass. It never fails: who needs to
// tell of an error asks the cluster itself.
package clusterversion

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Life is how long a version is remembered: it changes when the cluster is upgraded.
const Life = time.Minute

// Remembered asks the cluster for its version now and then. All fields have to be set; V is the form that the version is wanted in.
type Remembered[V any] struct {
	Server discovery.ServerVersionInterface
	Clock  clock.PassiveClock
	Parse  func(string) (V, error)
	// Without says, in the log, what is not done while the version is not known.
	Without string

	mutex sync.Mutex
	known V
	until time.Time
}

// Get returns the version of the cluster: the last one that is known when it cannot be had, and the zero value when there never was one.
func (r *Remembered[V]) Get(ctx context.Context) V {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.Clock.Now().Before(r.until) {
		return r.known
	}
	info, err := r.Server.ServerVersion()
	if err == nil {
		var found V
		if found, err = r.Parse(info.GitVersion); err == nil {
			r.known = found
		}
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the version of the cluster cannot be found out; "+r.Without)
	}
	r.until = r.Clock.Now().Add(Life)
	return r.known
}
