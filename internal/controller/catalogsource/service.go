package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/rollout"
)

// serviceRetry is the pause before another attempt at a Service that could not be kept.
const serviceRetry = 30 * time.Second

// Place is where catalogs are served over gRPC. Who reaches the address can read all that is in the set.
type Place struct {
	// Address is where the pods of the cluster reach the server.
	Address netip.AddrPort
	// Catalogs are those that are served there, by the names of their Services, NAME.NAMESPACE.
	Catalogs *catalogserver.Set
}

// Serving says where the catalogs of this process are served. What a Service leads to is what its clients may read: the catalogs of its own
// namespace, or those that all namespaces see.
type Serving struct {
	// GlobalNamespace has the catalogs that all namespaces see; Global is where they are served.
	GlobalNamespace string
	Global          Place
	// Private returns where the catalogs of another namespace are served. It is called whenever one of them is reconciled.
	Private func(ctx context.Context, namespace string) (Place, error)
	// Pod is NAMESPACE/NAME/UID of the pod at those addresses; empty when this process is not in a pod.
	Pod string
}

// services keep a Service for each catalog, behind which this process answers. A nil Serving keeps none.
type services struct {
	*Serving
	client client.Client
	engine *rollout.Engine
	peers  *peers
	// changed has a catalog reconciled; nil for none.
	changed func(catalog.Ref)

	mu    sync.Mutex
	hosts map[catalog.Ref]host
}

// host is how a catalog is served: under a name, among others.
type host struct {
	name     string
	address  netip.AddrPort
	catalogs *catalogserver.Set
}

// offer is how clients reach a catalog.
type offer struct {
	service   string // empty when there is none
	createdAt metav1.Time
	err       error         // why there is none, or it is not as it should be
	podded    bool          // a pod serves the catalog
	undecided bool          // nothing is known yet of where it is to be served
	refused   bool          // err is why its image may not be run
	waiting   string        // what is still missing of a pod
	failing   bool          // no pod answers, and that is why
	again     time.Duration // when to reconcile again without an event; 0 is not
}

// keep brings the Service of a catalog about, and serves the catalog under its name.
func (s *services) keep(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known content) offer {
	if s.Serving == nil || known.invalid != nil || isAddress(source) {
		s.withdraw(ref)
		_, err := s.prune(ctx, source, "", netip.AddrPort{})
		return offer{err: err}
	}
	name := grpccatalog.ServiceName(source.Name)
	at := s.Global
	if source.Namespace != s.GlobalNamespace {
		var err error
		if at, err = s.Private(ctx, source.Namespace); err != nil {
			s.withdraw(ref)
			return offer{err: fmt.Errorf("serve the catalogs of namespace %s at a port of their own: %w", source.Namespace, err)}
		}
	}
	live, err := s.apply(ctx, source, name, at.Address)
	shared := false
	if err == nil {
		shared, err = s.prune(ctx, source, name, at.Address)
	}
	if live == nil {
		// Another client may answer to that name.
		s.withdraw(ref)
		return offer{err: err}
	}
	as := host{name + "." + source.Namespace, at.Address, at.Catalogs}
	s.mu.Lock()
	if old, ok := s.hosts[ref]; ok && (old != as || known.index == nil) {
		old.catalogs.Withdraw(old.name)
		delete(s.hosts, ref)
	}
	if known.index != nil {
		if s.hosts == nil {
			s.hosts = map[catalog.Ref]host{}
		}
		s.hosts[ref] = as
		as.catalogs.Publish(as.name, known.index)
	}
	// Let the catalogs of the namespace be reconciled that are said to be served elsewhere than these are now: their Services lead to no one.
	var left []catalog.Ref
	for other, as := range s.hosts {
		if other.Namespace == ref.Namespace && as.address != at.Address && s.changed != nil {
			left = append(left, other)
		}
	}
	s.mu.Unlock()
	for _, ref := range left {
		s.changed(ref)
	}
	offered := offer{service: name, createdAt: live.GetCreationTimestamp(), err: err}
	if shared {
		offered.again = peerPause
	}
	return offered
}

// withdraw answers no more for a catalog.
func (s *services) withdraw(ref catalog.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.hosts[ref]; ok {
		old.catalogs.Withdraw(old.name)
		delete(s.hosts, ref)
	}
}

// apply writes the Service and its EndpointSlice where they are not as wanted, and returns the Service.
func (s *services) apply(ctx context.Context, source *v1alpha1.CatalogSource, name string, at netip.AddrPort) (*unstructured.Unstructured, error) {
	phase := rollout.Phase{Name: "service"}
	for _, desired := range serviceObjects(source, name, at, s.Pod) {
		// The claim of the owner with a UID: what it does not own already belongs to another.
		uid := source.UID
		const foreign = "exists, and does not belong to it"
		rules := rollout.ClaimRules{Shared: true, Unowned: func(metav1.Object) string { return foreign }, Relate: func(h rollout.Holder) (rollout.Relation, string) {
			if h.UID == uid {
				return rollout.Own, ""
			}
			return rollout.Foreign, foreign
		}}
		phase.Objects = append(phase.Objects, rollout.Object{Wanted: desired, Claim: func(live *unstructured.Unstructured) string {
			return rules.Judge(live, rollout.References(live)).Reason
		}, Owner: "CatalogSource " + source.Name})
	}
	for range 2 {
		result := s.engine.Apply(ctx, []rollout.Phase{phase})
		service := result.Phases[0].Objects[0]
		err := result.Err()
		var failures rollout.Failures
		invalid := errors.As(err, &failures) && !slices.ContainsFunc(failures, func(failure error) bool { return !apierrors.IsInvalid(failure) })
		switch {
		case err != nil && !invalid:
			return nil, fmt.Errorf("keep Service %s, by which clients reach the catalog: %w", name, err)
		case err == nil:
			selector, _, _ := unstructured.NestedMap(service.Live.Object, "spec", "selector")
			ports, _, _ := unstructured.NestedSlice(service.Live.Object, "spec", "ports")
			kind, _, _ := unstructured.NestedString(service.Live.Object, "spec", "type")
			if len(selector) == 0 && len(ports) == 1 && kind != string(corev1.ServiceTypeExternalName) {
				return service.Live, nil
			}
		}
		// Some fields cannot be changed, others no one may add: what they select would answer in the place of this catalog.
		if err := s.delete(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: source.Namespace, Name: name}}); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("keep Service %s, by which clients reach the catalog: it is changed again as soon as it is written; find out by whom", name)
}
