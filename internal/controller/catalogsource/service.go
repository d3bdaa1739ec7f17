package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/apply"
	"fairlead.dev/fairlead/internal/catalogserver"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/internal/registrypod"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serviceRetry is the pause before another attempt at a Service that could not be kept.
const serviceRetry = 30 * time.Second

// Serving says where the catalogs of this process are served over gRPC.
type Serving struct {
	// Address is where the pods of the cluster reach the server.
	Address netip.AddrPort
	// Catalogs are those that are served, by the names of their Services, NAME.NAMESPACE.
	Catalogs *catalogserver.Set
	// Pod is NAMESPACE/NAME/UID of the pod at that address; empty when this process is not in a pod.
	Pod string
}

// services keep a Service for each catalog, behind which this process answers. A nil Serving keeps none.
type services struct {
	*Serving
	client client.Client
	engine *apply.Engine
	peers  *peers

	mu    sync.Mutex
	hosts map[catalogset.Ref]string // under which catalogs are served
}

// offer is what clients of a catalog are told.
type offer struct {
	service   string // empty when there is none
	createdAt metav1.Time
	err       error         // why there is none, or it is not as it should be
	podded    bool          // a pod serves the catalog
	undecided bool          // nothing is known yet of where it is to be served
	waiting   string        // what is still missing of a pod
	again     time.Duration // when to look again without an event; 0 is not
}

// keep brings the Service of a catalog about, and serves the catalog under its name.
func (s *services) keep(ctx context.Context, ref catalogset.Ref, source *v1alpha1.CatalogSource, known content) offer {
	if s.Serving == nil || known.invalid != nil || isAddress(source) {
		s.withdraw(ref)
		_, err := s.prune(ctx, source, "")
		return offer{err: err}
	}
	name := serviceName(source)
	live, err := s.apply(ctx, source, name)
	shared := false
	if err == nil {
		shared, err = s.prune(ctx, source, name)
	}
	if live == nil {
		// Somebody else may answer to that name.
		s.withdraw(ref)
		return offer{err: err}
	}
	s.serve(ref, name+"."+source.Namespace, known)
	offered := offer{service: name, createdAt: live.GetCreationTimestamp(), err: err}
	if shared {
		offered.again = peerPause
	}
	return offered
}

// serve answers under a host name with the content of a catalog.
func (s *services) serve(ref catalogset.Ref, host string, known content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.hosts[ref]; ok && (old != host || known.index == nil) {
		s.Catalogs.Withdraw(old)
		delete(s.hosts, ref)
	}
	if known.index == nil {
		return
	}
	if s.hosts == nil {
		s.hosts = map[catalogset.Ref]string{}
	}
	s.hosts[ref] = host
	s.Catalogs.Publish(host, known.index)
}

// withdraw answers no more for a catalog.
func (s *services) withdraw(ref catalogset.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if host, ok := s.hosts[ref]; ok {
		s.Catalogs.Withdraw(host)
		delete(s.hosts, ref)
	}
}

// apply writes the Service and its EndpointSlice where they are not as wanted, and returns the Service.
func (s *services) apply(ctx context.Context, source *v1alpha1.CatalogSource, name string) (*unstructured.Unstructured, error) {
	phase := apply.Phase{Name: "service"}
	for _, wanted := range serviceObjects(source, name, s.Serving) {
		phase.Objects = append(phase.Objects, apply.Object{Wanted: wanted, Claim: claimOf(source.UID), Owner: "CatalogSource " + source.Name})
	}
	for range 2 {
		result := s.engine.Apply(ctx, []apply.Phase{phase})
		service := result.Phases[0].Objects[0]
		if err := result.Err(); err != nil && !isInvalid(err) {
			return nil, fmt.Errorf("keep Service %s, by which clients reach the catalog: %w", name, err)
		} else if err == nil && !strays(service.Live) {
			return service.Live, nil
		}
		// Some fields cannot be changed, others nobody may add: what they select would answer in the place of this catalog.
		if err := s.remove(ctx, source, name); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("keep Service %s, by which clients reach the catalog: it is changed again as soon as it is written; find out by whom", name)
}

// claimOf is the claim of everybody but the object with that UID.
func claimOf(uid types.UID) apply.Claim {
	return func(live *unstructured.Unstructured) string {
		for _, owner := range live.GetOwnerReferences() {
			if owner.UID == uid {
				return ""
			}
		}
		return "exists, and does not belong to it"
	}
}

func isInvalid(err error) bool {
	var failures apply.Failures
	if !errors.As(err, &failures) {
		return false
	}
	for _, failure := range failures {
		if !apierrors.IsInvalid(failure) {
			return false
		}
	}
	return true
}

// strays tells whether a Service leads elsewhere than it should.
func strays(live *unstructured.Unstructured) bool {
	selector, _, _ := unstructured.NestedMap(live.Object, "spec", "selector")
	ports, _, _ := unstructured.NestedSlice(live.Object, "spec", "ports")
	kind, _, _ := unstructured.NestedString(live.Object, "spec", "type")
	return len(selector) > 0 || len(ports) != 1 || kind == string(corev1.ServiceTypeExternalName)
}

// serviceName is the documented name, changed where a Service may not be called so.
func serviceName(source *v1alpha1.CatalogSource) string { return registrypod.ServiceName(source.Name) }
