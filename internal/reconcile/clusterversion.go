package reconcile

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// VersionLifetime is how long a version is remembered.
	VersionLifetime = time.Minute
	// versionFailureLifetime is how long it is remembered that there is no version to be had.
	versionFailureLifetime = 5 * time.Second
)

// VersionServer is the version endpoint of a cluster, asked now and then. It is a discovery.ServerVersionInterface itself. Its fields have to be
// set.
type VersionServer struct {
	Server discovery.ServerVersionInterface
	Clock  clock.PassiveClock

	mutex sync.Mutex
	known *version.Info
	err   error
	until time.Time
}

// ServerVersion returns the version of the cluster: the last one that is known when it cannot be had, and the error when there never was
// one.
func (s *VersionServer) ServerVersion() (*version.Info, error) {
	info, _, err := s.ask()
	return info, err
}

// ask tells besides whether the cluster was asked just now, and then what came of it.
func (s *VersionServer) ask() (known *version.Info, now bool, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if now = !s.Clock.Now().Before(s.until); now {
		life := VersionLifetime
		var info *version.Info
		if info, s.err = s.Server.ServerVersion(); s.err == nil {
			s.known = info
		} else {
			life = versionFailureLifetime
		}
		s.until = s.Clock.Now().Add(life)
	}
	if s.known != nil {
		return s.known, now, nil
	}
	return nil, now, s.err
}

// ClusterVersion is the version of a cluster in the form that callers need, V. It never fails. All fields have to be set.
type ClusterVersion[V any] struct {
	Server discovery.ServerVersionInterface
	Clock  clock.PassiveClock
	Parse  func(string) (V, error)
	// Without says, in the log, what is not done while the version is not known.
	Without string

	mutex  sync.Mutex
	server *VersionServer
	known  V
}

// Get returns the version of the cluster: the last one that is known when it cannot be had, and the zero value when there never was one.
func (r *ClusterVersion[V]) Get(ctx context.Context) V {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.server == nil {
		r.server = &VersionServer{Server: r.Server, Clock: r.Clock}
	}
	info, now, err := r.server.ask()
	if !now {
		return r.known
	}
	if err == nil {
		var found V
		if found, err = r.Parse(info.GitVersion); err == nil {
			r.known = found
		}
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the version of the cluster cannot be found out; "+r.Without)
	}
	return r.known
}
