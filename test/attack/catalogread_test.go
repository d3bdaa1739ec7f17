package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPrivateCatalogsAreNotRead: a pod of one tenant reaches the ports that the Services of its own namespace and those of global catalogs lead
// to. On none of them it reads the private catalog of another tenant, whichever name it sends.
func TestPrivateCatalogsAreNotRead(t *testing.T) {
	w := newWorld(t)
	shared := harness.FreeAddress(t)
	w.run(func(o *manager.Options) { o.CatalogAddress = shared })
	victim, mallory := w.namespace("attack-victim"), w.namespace("attack-mallory")
	own := map[string]string{} // the port of each namespace that its Services lead to
	for _, namespace := range []string{victim, mallory, olm} {
		name := "catalog"
		w.catalogSource(namespace, name, onePackage("of-"+namespace))
		own[namespace] = w.leadsTo(namespace, name, shared)
	}
	for from, address := range map[string]string{"its own Service": own[mallory], "that of a global catalog": own[olm], "the shared port": shared} {
		for _, name := range []string{"catalog." + victim, "catalog." + victim + ".svc.cluster.local", "catalog"} {
			for how, call := range map[string]func() ([]string, error){
				"metadata":  func() ([]string, error) { return bundles(t, address, "", name) },
				"authority": func() ([]string, error) { return bundles(t, address, name, "") },
			} {
				var got []string
				var err error
				must.Eventually(t, "the catalogs of the namespaces to be read", func() error { // until then nothing is answered at all
					if got, err = call(); status.Code(err) == codes.Unavailable {
						return err
					}
					return nil
				})
				if status.Code(err) != codes.NotFound {
					t.Errorf("through %s, by the %s %s, a pod of %s reads %v (%v)", from, how, name, mallory, got, err)
				}
			}
		}
	}
	// Where nothing keeps pods from the ports of other namespaces, the manager knows whose pod it is.
	w.pod(mallory, "127.0.0.9")
	w.pod(victim, "127.0.0.8")
	if got, err := bundlesFrom(t, "127.0.0.9", own[victim], "catalog."+victim, ""); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a pod of %s at the port of %s reads %v (%v)", mallory, victim, got, err)
	}
	// One that has just begun, and whose address is not reported yet, calls before it is.
	late := w.podWithout(mallory, "late")
	reported := make(chan error, 1)
	time.AfterFunc(time.Second, func() { reported <- w.reportAddress(late, "127.0.0.7") })
	if got, err := bundlesFrom(t, "127.0.0.7", own[victim], "catalog."+victim, ""); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a pod of %s that has just begun reads %v (%v) at the port of %s", mallory, got, err, victim)
	}
	must.NoError(t, <-reported)
	if got, err := bundlesFrom(t, "127.0.0.8", own[victim], "catalog."+victim, ""); err != nil || len(got) != 1 {
		t.Errorf("a pod of %s at the port of its own namespace reads %v, %v", victim, got, err)
	}
	for namespace, address := range own {
		want := "of-" + namespace + ".v1.0.0"
		if got, err := bundles(t, address, "catalog."+namespace+".svc:50051", ""); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("a client of the Service in %s reads %v, %v, want %s", namespace, got, err, want)
		}
	}
}

// pod makes a pod that the API server says has an address. No node runs it.
func (w *world) pod(namespace, address string) {
	w.t.Helper()
	must.NoError(w.t, w.reportAddress(w.podWithout(namespace, "client"), address))
}

// podWithout makes a pod whose address is not reported.
func (w *world) podWithout(namespace, name string) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{SchedulerName: "none", Containers: []corev1.Container{{Name: "client", Image: "registry.example.com/client:v1"}}}}
	harness.Create(w.t, w, pod)
	return pod
}

// reportAddress reports the address of a pod, as the node of it would.
func (w *world) reportAddress(pod *corev1.Pod, address string) error {
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	pod.Status.Phase = corev1.PodRunning
	return w.Status().Update(w.t.Context(), pod)
}

// onePackage is a catalog of a package with one bundle.
func onePackage(name string) string {
	return fmt.Sprintf(`{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable"}
{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v1.0.0"}]}
{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1.0.0","image":"registry.example.com/%[1]s:v1","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}}]}`, name)
}

// catalogSource makes a CatalogSource with the given content, which is removed when the test ends.
func (w *world) catalogSource(namespace, name, content string) *v1alpha1.CatalogSource {
	w.t.Helper()
	ref := w.registry + "/" + namespace + "/" + name + ":v1"
	must.Value(image.Push(w.t.Context(), ref, fstest.MapFS{"configs/catalog.json": {Data: []byte(content)}}, image.CatalogLabels(), image.PushOptions{}))(w.t)
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	harness.Create(w.t, w, s)
	w.t.Cleanup(func() { _ = w.Delete(context.Background(), s) })
	return s
}

// leadsTo waits until the Service of a catalog leads to the manager, and returns where that listens. shared stands for ownAddress.
func (w *world) leadsTo(namespace, name, shared string) (address string) {
	w.t.Helper()
	must.Eventually(w.t, "the Service of catalog "+namespace+"/"+name+" to lead somewhere", func() error {
		var s v1alpha1.CatalogSource
		if err := w.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &s); err != nil {
			return err
		}
		if s.Status.GRPCConnectionState == nil || s.Status.GRPCConnectionState.LastObservedState != "READY" {
			return fmt.Errorf("its status is %+v", s.Status)
		}
		var slices discoveryv1.EndpointSliceList
		if err := w.List(w.t.Context(), &slices, client.InNamespace(namespace), client.MatchingLabels{discoveryv1.LabelServiceName: name}); err != nil {
			return err
		}
		if len(slices.Items) != 1 {
			return fmt.Errorf("%d EndpointSlices", len(slices.Items))
		}
		slice := slices.Items[0]
		address = fmt.Sprintf("127.0.0.1:%d", *slice.Ports[0].Port)
		if fmt.Sprintf("%s:%d", slice.Endpoints[0].Addresses[0], *slice.Ports[0].Port) == ownAddress {
			address = shared
		}
		return nil
	})
	return address
}

// bundles are the names of the bundles that a client is told at an address, when it sends an authority or the metadata by which catalogs are
// named.
func bundles(t *testing.T, address, authority, named string) ([]string, error) {
	t.Helper()
	return bundlesFrom(t, "127.0.0.1", address, authority, named)
}

// bundlesFrom is bundles for a client with an address of its own.
func bundlesFrom(t *testing.T, from, address, authority, named string) ([]string, error) {
	t.Helper()
	dial := func(ctx context.Context, to string) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		return d.DialContext(ctx, "tcp", to)
	}
	conn := must.Value(grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithAuthority(authority), grpc.WithContextDialer(dial)))(t)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if named != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, catalogserver.MetadataKey, named)
	}
	stream, err := registry.NewRegistryClient(conn).ListBundles(ctx, &registry.ListBundlesRequest{})
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		b, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return names, nil
		}
		if err != nil {
			return names, err
		}
		names = append(names, b.GetCsvName())
	}
}
