package packageserver

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// RegistrationOptions say what is registered.
type RegistrationOptions struct {
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
	// Registered is called whenever what leads to this process was found, or made, to be there; nil for no one.
	Registered func()
	Log        logr.Logger
}

// Pod names a pod.
type Pod struct {
	Name string
	UID  types.UID
}

// store keeps the certificate that the options describe.
func (o RegistrationOptions) store(c client.Client) *serving.Store {
	return serving.NewStore(serving.Options{Client: c, Namespace: o.Namespace, Secret: secretName, Name: ServiceName, Hosts: o.hosts(), Life: o.Life,
		Delay: cmp.Or(o.Delay, serving.APIServerDelay), Clock: o.Clock, FieldManager: fieldManager, Log: o.Log})
}

// Registration keeps the objects that lead to this process.
type Registration struct {
	options RegistrationOptions
	client  client.Client
	reader  client.Reader
	engine  *rollout.Engine
	store   *serving.Store
	log     logr.Logger

	// probe tells why another process does not serve.
	probe func(ctx context.Context, address string, trusted []byte) error
}

// NewRegistration returns a registration; nothing is written before Prepare.
func NewRegistration(o RegistrationOptions) (*Registration, error) {
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
			if retry, last = minRetry, ""; r.options.Registered != nil {
				r.options.Registered()
			}
		} else {
			next, retry = r.options.Clock.Now().Add(retry), min(2*retry, maxRetry)
		}
		if err != nil && ctx.Err() == nil && err.Error() != last {
			last = err.Error()
			r.log.Error(err, "packages cannot be read through the API server yet; it is tried again")
		}
		timer := r.options.Clock.NewTimer(next.Sub(r.options.Clock.Now()))
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C():
		}
		timer.Stop()
	}
	<-supervised
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	return r.withdraw(ctx)
}

// Prepare puts right what earlier processes have left, and makes a certificate that can be shown, where there is none.
func (r *Registration) Prepare(ctx context.Context) error {
	if err := r.Clear(ctx); err != nil {
		return err
	}
	namespace := r.engine.Apply(ctx, []rollout.Phase{r.options.namespace()})
	if err := namespace.Err(); err != nil {
		return fmt.Errorf("make the namespace of the package server: %w", err)
	}
	return r.store.Prepare(ctx)
}

// never is when to look again at what only changes by an event.
const never = 24 * time.Hour

// reconcile brings everything about, and returns when to look again.
func (r *Registration) reconcile(ctx context.Context) (time.Time, error) {
	for _, name := range []string{cmp.Or(r.options.Home, r.options.Namespace), r.options.Namespace} {
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		err := r.reader.Get(ctx, client.ObjectKey{Name: name}, namespace)
		if client.IgnoreNotFound(err) != nil {
			return time.Time{}, fmt.Errorf("find out whether namespace %s of the package server is being deleted: %w", name, err)
		}
		if err == nil && !namespace.DeletionTimestamp.IsZero() {
			// What this process may do goes with its namespace, and the namespace goes only when the APIService has gone.
			return r.options.Clock.Now().Add(never), r.deleteAPIService(ctx)
		}
	}
	return r.store.Reconcile(ctx, r.publish)
}

// publish registers this process with the CA bundle of its certificate: API servers trust the certificate before it is served.
func (r *Registration) publish(ctx context.Context, merge func(published []byte) []byte) error {
	live, err := r.apiService(ctx)
	if err != nil {
		return err
	}
	operator, err := r.operator(ctx)
	if err != nil {
		return err
	}
	if operator != "" {
		return fmt.Errorf("register the package server: APIService %s belongs to ClusterServiceVersion %s; delete that to have packages served here, or switch this server off",
			APIServiceName, operator)
	}
	if err := r.engine.Apply(ctx, r.options.phases(merge(r.options.bundle(live)))).Err(); err != nil {
		return fmt.Errorf("register the package server: %w", err)
	}
	return nil
}

// operator names the ClusterServiceVersion that owns the APIService, as that of another implementation's package server does; empty is none.
// As long as it is there its controller keeps the APIService as it wants it, whether anyone answers or not: to take it over would be undone.
func (r *Registration) operator(ctx context.Context) (string, error) {
	live, err := r.apiService(ctx)
	if err != nil || live == nil {
		return "", err
	}
	labels := live.GetLabels()
	if labels[v1alpha1.OwnerKindLabel] != v1alpha1.ClusterServiceVersionKind {
		return "", nil
	}
	key := client.ObjectKey{Namespace: labels[v1alpha1.OwnerNamespaceLabel], Name: labels[v1alpha1.OwnerLabel]}
	csv := &metav1.PartialObjectMetadata{}
	csv.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
	if err := r.reader.Get(ctx, key, csv); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return "", nil
		}
		return "", fmt.Errorf("find out whether ClusterServiceVersion %s, which owns APIService %s, is still there: %w", key, APIServiceName, err)
	}
	return key.String(), nil
}
