package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// leaderElectionID names the lease that lets only one manager of a cluster work at a time.
const leaderElectionID = "fairlead-manager"

// The times of the lease. Two things are wanted of them: a leader that was killed is replaced within 20 s, and one that cannot write for 10 s, because
// etcd stalls, continues leading.
//
//   - The leader renews every leaseRetry. When writes stall right before that, its last renewal is 0.8 s old; the stall makes that 10.8 s, and the request
//     that was lost in it another 2 s (leaseRequest), before the next one succeeds: 12.8 s, within leaseRenewal and leaseFence.
//   - One that waits asks every leaseRetry to 2.2 times that, as the library spreads it. It sees the last renewal up to 1.8 s late, counts leaseDuration from
//     there by its own clock, and asks again up to 1.8 s later: 18.6 s after the kill at most, and leads a moment after, because its caches are filled.
//   - leaseFence after it sent its last renewal the leader ends, so it acts no more when another one may begin to, which is leaseDuration after that at the
//     earliest: no wall clock matters, and 1 s is left for clocks that run at different speeds. The library would end a little earlier or later,
//     depending on how long the renewal took, and would first try to give the lease back, for as long as leaseRenewal.
const (
	leaseDuration = 15 * time.Second
	leaseFence    = 14 * time.Second
	leaseRenewal  = 13 * time.Second
	leaseRetry    = 800 * time.Millisecond
	leaseRequest  = 2 * time.Second
)

// errLeaseLost is why a manager ends that could not renew its lease.
var errLeaseLost = errors.New("the lease could not be renewed in time, and another manager may lead by now")

// lease is the lock that managers take turns by. It is lost when it was not renewed for leaseFence.
type lease struct {
	resourcelock.Interface
	fence time.Duration
	lost  chan struct{} // closed when the lease is lost

	mu      sync.Mutex
	timer   *time.Timer // nil while another manager leads
	expired bool
}

func newLease(fence time.Duration) *lease { return &lease{fence: fence, lost: make(chan struct{})} }

// connect lets the lease be in a cluster.
func (l *lease) connect(mgr manager.Manager, config *rest.Config, namespace string) error {
	config = rest.AddUserAgent(config, "leader-election")
	config.Timeout = leaseRequest
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client for the lease by which managers take turns: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("find a name for this manager in the lease by which managers take turns: %w", err)
	}
	l.Interface, err = resourcelock.New(resourcelock.LeasesResourceLock, namespace, leaderElectionID, nil, leases, resourcelock.ResourceLockConfig{
		Identity:      host + "_" + string(uuid.NewUUID()),
		EventRecorder: mgr.GetEventRecorderFor(leaderElectionID), //nolint:staticcheck // the library of leases takes no other
	})
	if err != nil {
		return fmt.Errorf("set up the lease by which managers take turns: %w", err)
	}
	return nil
}

// serviceAccountNamespace is the file in a pod that names its namespace.
const serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// leaseNamespace is where the lease is: where is said, or in the namespace of the pod.
func leaseNamespace(said string) (string, error) {
	text, err := os.ReadFile(serviceAccountNamespace)
	if namespace := cmp.Or(said, os.Getenv(podNamespaceVariable), strings.TrimSpace(string(text))); namespace != "" {
		return namespace, nil
	}
	return "", fmt.Errorf("find the namespace of the lease by which managers take turns: this is no pod (%w); name one with --leader-namespace", err)
}

// Create implements resourcelock.Interface.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update implements resourcelock.Interface.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

// write takes, renews or gives back the lease. One that was lost is left alone: it may be that of another manager by now, which the library does not see
// when it gives a lease back.
func (l *lease) write(ctx context.Context, record resourcelock.LeaderElectionRecord, do func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	sent := time.Now()
	l.mu.Lock()
	expired := l.expired
	l.mu.Unlock()
	if expired {
		return errLeaseLost
	}
	ctx, cancel := context.WithTimeout(ctx, leaseRequest)
	defer cancel()
	if err := do(ctx, record); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.expired:
		return errLeaseLost
	case l.timer != nil:
		l.timer.Stop()
	}
	if l.timer = nil; record.HolderIdentity == l.Identity() {
		l.timer = time.AfterFunc(l.fence-time.Since(sent), l.expire)
	}
	return nil
}

// expire is called when the lease was not renewed in time.
func (l *lease) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil && !l.expired {
		l.expired = true
		close(l.lost)
	}
}

// Get implements resourcelock.Interface.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseRequest)
	defer cancel()
	record, raw, err := l.Interface.Get(ctx)
	if err != nil && !apierrors.IsNotFound(err) {
		err = fmt.Errorf("read the lease %s: %w", l.Describe(), err)
	}
	return record, raw, err
}

// elect makes the manager that the options are for wait for its lease.
func (l *lease) elect(o *ctrl.Options) {
	duration, renewal, retry := leaseDuration, leaseRenewal, leaseRetry
	o.LeaderElection, o.LeaderElectionID, o.LeaderElectionReleaseOnCancel, o.LeaderElectionResourceLockInterface = true, leaderElectionID, true, l
	o.LeaseDuration, o.RenewDeadline, o.RetryPeriod = &duration, &renewal, &retry
}
