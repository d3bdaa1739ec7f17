package registration

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager owns what is written.
const fieldManager = "fairlead-packageserver"

// Pauses after failures, and how long the way back may take.
const (
	minRetry     = time.Second
	maxRetry     = time.Minute
	withdrawTime = 4 * time.Second
)

// Options say what is registered.
type Options struct {
	REST *rest.Config
	// Namespace is where the Service and the Secret are; it is created when it is not there.
	Namespace string
	// Home is the namespace of this process, whose permissions go with it; Namespace when empty.
	Home string
	// Address is where the API server reaches this process.
	Address netip.AddrPort
	// Reached is where other processes reach this one, where that is not Address.
	Reached netip.AddrPort
	// Pod is that of this process, if any.
	Pod   Pod
	Clock clock.WithTicker
	// Life is that of certificates; the usual one when zero.
	Life time.Duration
	// Delay is how long API servers trust a certificate before it is served; serving.APIServerDelay when zero.
	Delay time.Duration
	Log   logr.Logger
}

// Pod names a pod.
type Pod struct {
	Name string
	UID  types.UID
}

func (o Options) home() string { return cmp.Or(o.Home, o.Namespace) }

func (o Options) reached() netip.AddrPort {
	if o.Reached.IsValid() {
		return o.Reached
	}
	return o.Address
}

// store keeps the certificate that the options describe.
func (o Options) store(c client.Client) *serving.Store {
	return serving.NewStore(serving.Options{Client: c, Namespace: o.Namespace, Secret: secretName, Name: ServiceName, Hosts: o.hosts(), Life: o.Life,
		Delay: cmp.Or(o.Delay, serving.APIServerDelay), Clock: o.Clock, FieldManager: fieldManager, Log: o.Log})
}

// Registration keeps the objects that lead to this process.
type Registration struct {
	options Options
	client  client.Client
	reader  client.Reader
	engine  *rollout.Engine
	store   *serving.Store
	log     logr.Logger

	// probe tells why another process does not serve.
	probe func(ctx context.Context, address string, trusted []byte) error
}

// New returns a registration; nothing is written before Prepare.
func New(o Options) (*Registration, error) {
	c, err := client.New(o.REST, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("register the package server: %w", err)
	}
	return &Registration{options: o, client: c, reader: c, engine: &rollout.Engine{Client: c, FieldManager: fieldManager}, store: o.store(c), log: o.Log,
		probe: prober{host: o.hosts()[0]}.probe}, nil
}

// Provider is what the server serves. It has content after Prepare.
func (r *Registration) Provider() *serving.Provider { return r.store.Provider() }

// Run keeps the registration until the context ends, and then withdraws it, before it returns: the server has to serve until then. It fails
// only when it cannot begin; what fails later is tried again.
func (r *Registration) Run(ctx context.Context) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	changed, seen, err := r.watch(running)
	if err != nil {
		return err
	}
	supervised := make(chan struct{})
	go func() {
		defer close(supervised)
		r.supervise(running, seen)
	}()
	retry, last := minRetry, ""
	for ctx.Err() == nil {
		next, err := r.reconcile(ctx)
		if err == nil {
			retry, last = minRetry, ""
		} else {
			next, retry = r.options.Clock.Now().Add(retry), min(2*retry, maxRetry)
		}
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			r.log.Error(err, "packages cannot be read through the API server yet; it is tried again")
		}
		r.wait(ctx, changed, next)
	}
	<-supervised
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	return r.withdraw(ctx)
}

// wait returns when something was changed, at a time, or when the context ends.
func (r *Registration) wait(ctx context.Context, changed <-chan struct{}, until time.Time) {
	timer := r.options.Clock.NewTimer(until.Sub(r.options.Clock.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C():
	}
}
