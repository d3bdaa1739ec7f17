package catalogsource

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (w *world) service(name string) (*corev1.Service, error) {
	var s corev1.Service
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, &s)
	return &s, err
}

func (w *world) slice(name string) (*discoveryv1.EndpointSlice, error) {
	var s discoveryv1.EndpointSlice
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, &s)
	return &s, err
}

func TestAServiceLeadsToTheCatalog(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	served := w.serve()
	_, s := w.reconcile()
	service := must.Value(w.service("cat"))(t)
	if len(service.Spec.Selector) > 0 || service.Spec.Ports[0].Port != 50051 || service.Spec.Ports[0].TargetPort.IntValue() != registryPort || !metav1.IsControlledBy(service, s) {
		t.Errorf("the Service is %+v, of %v", service.Spec, service.OwnerReferences)
	}
	slice := must.Value(w.slice(sliceName("cat", w.c.services.Global.Address)))(t)
	if slice.Labels["kubernetes.io/service-name"] != "cat" || slice.Annotations[addressAnnotation] != "192.0.2.7:4711" || slice.Endpoints[0].Addresses[0] != "192.0.2.7" || *slice.Ports[0].Port != 4711 || !metav1.IsControlledBy(slice, s) {
		t.Errorf("the EndpointSlice is %+v", slice)
	}
	want := &v1alpha1.RegistryServiceStatus{Protocol: "grpc", ServiceName: "cat", ServiceNamespace: "olm", Port: "50051", CreatedAt: service.CreationTimestamp}
	must.Equal(t, "registryService (-want +got)", s.Status.RegistryServiceStatus, want)
	if got := s.Status.GRPCConnectionState; got.Address != "cat.olm.svc:50051" || got.LastObservedState != "READY" {
		t.Errorf("connectionState %+v", got)
	}
	if _, ok := served.Catalog("cat.olm"); !ok {
		t.Error("nobody answers for cat.olm")
	}
	w.Taken()
	w.reconcile()
	must.Empty(t, "writes of looking again", w.Writes())
	must.NoError(t, w.client.Delete(t.Context(), s))
	w.reconcile()
	if _, ok := served.Catalog("cat.olm"); ok {
		t.Error("a deleted catalog is still served")
	}
}

func TestAServiceIsHealed(t *testing.T) {
	for name, drift := range map[string]func(w *world, s *corev1.Service) error{
		"deleted":      func(w *world, s *corev1.Service) error { return w.client.Delete(w.t.Context(), s) },
		"another port": func(w *world, s *corev1.Service) error { s.Spec.Ports[0].TargetPort.IntVal = 1; return w.user(s) },
		"a selector": func(w *world, s *corev1.Service) error {
			s.Spec.Selector = map[string]string{"app": "x"}
			return w.user(s)
		},
		"one port more": func(w *world, s *corev1.Service) error {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "x", Port: 1})
			return w.user(s)
		},
		"a name for it": func(w *world, s *corev1.Service) error {
			s.Spec.Type, s.Spec.ExternalName = "ExternalName", "x.example.com"
			return w.user(s)
		},
		"no label any more": func(w *world, s *corev1.Service) error { s.Labels = nil; return w.user(s) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(grpc(0)))
			w.serve()
			w.reconcile()
			s, err := w.service("cat")
			if err != nil {
				t.Fatal(err)
			}
			must.NoError(t, drift(w, s))
			_, got := w.reconcile()
			if s, err = w.service("cat"); err != nil {
				t.Fatal(err)
			}
			if len(s.Spec.Selector) > 0 || len(s.Spec.Ports) != 1 || s.Spec.Ports[0].TargetPort.IntValue() != registryPort || s.Spec.Type != "ClusterIP" || s.Labels["olm.managed"] != "true" {
				t.Errorf("the Service is %+v", s)
			}
			must.Equal(t, "ready reason", readyReason(got), "True Serving")
		})
	}
}

// user updates an object as another client would.
func (w *world) user(o client.Object) error {
	return w.client.Update(w.t.Context(), o, client.FieldOwner("kubectl-edit"))
}

func TestTheNameOfAServiceIsTaken(t *testing.T) {
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "theirs"}}}
	w := newWorld(t, source(grpc(0)), theirs)
	served := w.serve()
	result, s := w.reconcile()
	if got, err := w.service("cat"); err != nil || got.Spec.Selector["app"] != "theirs" || len(got.OwnerReferences) > 0 {
		t.Errorf("somebody's Service was changed: %+v, %v", got, err)
	}
	if readyReason(s) != "True ServingWithProblems" || !strings.Contains(s.Status.Message, "Service olm/cat is wanted by CatalogSource cat but exists") || s.Status.RegistryServiceStatus != nil {
		t.Errorf("status %+v", s.Status)
	}
	if _, ok := served.Catalog("cat.olm"); ok {
		t.Error("the catalog answers to the name of somebody else's Service")
	}
	must.Equal(t, "it is not used for resolution", len(w.packages()), 1)
	must.Equal(t, "tried again", result.RequeueAfter, serviceRetry)
	must.NoError(t, w.client.Delete(t.Context(), theirs))
	w.Clock.Step(time.Minute)
	if _, s = w.reconcile(); readyReason(s) != "True Serving" || s.Status.RegistryServiceStatus == nil {
		t.Errorf("once the name is free: %+v", s.Status)
	}
}

func TestTheServiceGoesWithWhatItIsFor(t *testing.T) {
	w := newWorld(t, source(grpc(0)))
	served := w.serve()
	w.reconcile()
	w.update(func(s *v1alpha1.CatalogSource) {
		s.Spec = v1alpha1.CatalogSourceSpec{SourceType: "grpc", Address: "127.0.0.1:1"}
	})
	_, s := w.reconcile()
	if _, err := w.service("cat"); !apierrors.IsNotFound(err) {
		t.Errorf("the Service of a catalog that somebody else serves: %v", err)
	}
	if _, err := w.slice(sliceName("cat", w.c.services.Global.Address)); !apierrors.IsNotFound(err) {
		t.Errorf("its EndpointSlice: %v", err)
	}
	if _, ok := served.Catalog("cat.olm"); ok {
		t.Error("it still answers")
	}
	if r := s.Status.RegistryServiceStatus; r == nil || r.ServiceName != "" || r.Protocol != "grpc" {
		t.Errorf("registryService %+v", r)
	}
}

func TestAServiceOfTheOtherImplementationIsTakenOver(t *testing.T) {
	old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "cat", Labels: map[string]string{"olm.service-spec-hash": "x"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "CatalogSource", Name: "cat", UID: "uid-of-cat"}}},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"olm.catalogSource": "cat"}, Ports: []corev1.ServicePort{{Name: "grpc", Port: 50051}}}}
	w := newWorld(t, source(grpc(0)), old)
	w.serve()
	_, s := w.reconcile()
	if got, err := w.service("cat"); err != nil || len(got.Spec.Selector) > 0 {
		t.Errorf("it leads to pods that nobody runs any more: %+v, %v", got, err)
	}
	must.Equal(t, "ready reason", readyReason(s), "True Serving")
}

// TestCatalogsFollowThePortOfTheirNamespace: once one of them is served at another port, or gets none for a while, the others are reconciled, too.
func TestCatalogsFollowThePortOfTheirNamespace(t *testing.T) {
	other := source(grpc(0))
	other.Name, other.UID = "other", "uid-of-other"
	elsewhere := source(grpc(0))
	elsewhere.Namespace, elsewhere.UID = "elsewhere", "uid-elsewhere"
	w := newWorld(t, source(grpc(0)), other, elsewhere)
	port, fails := uint16(26_001), error(nil)
	set := &catalogserver.Set{}
	w.c.services.Serving = &Serving{GlobalNamespace: "global", Private: func(_ context.Context, namespace string) (Place, error) {
		if namespace != key.Namespace {
			return Place{netip.MustParseAddrPort("192.0.2.7:26100"), &catalogserver.Set{}}, nil
		}
		return Place{netip.AddrPortFrom(netip.MustParseAddr("192.0.2.7"), port), set}, fails
	}}
	var told []string
	w.c.services.changed = func(ref catalog.Ref) { told = append(told, ref.String()) }
	look := func(o *v1alpha1.CatalogSource, want ...string) {
		t.Helper()
		told = nil
		must.Value(w.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(o)}))(t)
		must.Equal(t, "looked at next (-want +got)", told, want)
	}
	look(source(grpc(0)))
	look(other)
	look(elsewhere)
	port++
	look(other, "olm/cat")
	look(source(grpc(0)))
	if slice, err := w.slice(sliceName("cat", netip.MustParseAddrPort("192.0.2.7:26002"))); err != nil || *slice.Ports[0].Port != 26002 {
		t.Errorf("the Service of the catalog that was told leads to %+v, %v", slice, err)
	}
	fails = errors.New("no port")
	look(other)
	port, fails, set = port+1, nil, &catalogserver.Set{}
	look(other, "olm/cat")
	look(source(grpc(0)))
	if _, ok := set.Catalog("cat.olm"); !ok {
		t.Error("the catalog that was told is not served where it is looked for")
	}
}
