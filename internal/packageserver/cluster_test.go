package packageserver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/packageserver"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

func TestMain(m *testing.M) { devcluster.Main(m) }

// process is a package server that the API server of the cluster leads to, as a manager runs it.
type process struct {
	t         *testing.T
	namespace string
	client    *kubernetes.Clientset
	dynamic   dynamic.Interface
	contents  *catalogstore.Set
	server    *packageserver.Server
	shown     *serving.Provider
	stop      func() error
	// kill ends it as a lost node does: nothing of it is heard any more.
	kill func()
}

var (
	packages    = packagesv1.GroupVersion.WithResource("packagemanifests")
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// oneCatalog is a cluster with one global catalog.
type oneCatalog struct{ namespace string }

func (c oneCatalog) CatalogSources(context.Context) ([]v1alpha1.CatalogSource, error) {
	source := v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "global", CreationTimestamp: metav1.Now()}}
	source.Spec.DisplayName = "The catalog"
	return []v1alpha1.CatalogSource{source}, nil
}

func (oneCatalog) WithoutGlobal(context.Context) (map[string]bool, error) { return nil, nil }

// start runs a package server whose certificates live shorter than usual where life is given.
func start(t *testing.T, life, delay time.Duration) *process {
	t.Helper()
	return startIn(t, devcluster.Namespace(t), life, delay)
}

// cut is a way to the API server that can be cut.
type cut struct {
	http.RoundTripper
	done atomic.Bool
}

func (c *cut) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.done.Load() {
		return nil, errors.New("this process is dead")
	}
	return c.RoundTripper.RoundTrip(r)
}

// startIn runs a package server beside others of a namespace.
func startIn(t *testing.T, namespace string, life, delay time.Duration) *process {
	t.Helper()
	config := devcluster.Config()
	own, way := rest.CopyConfig(config), &cut{}
	own.Wrap(func(to http.RoundTripper) http.RoundTripper {
		way.RoundTripper = to
		return way
	})
	p := &process{t: t, namespace: namespace, contents: catalogstore.NewSet(), client: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	t.Cleanup(p.sweep)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	local := listener.Addr().(*net.TCPAddr).AddrPort()
	at := netip.AddrPortFrom(netip.MustParseAddr("192.0.2.3"), local.Port())
	devcluster.Route(t, at.String(), local.String())
	registered := must.Value(packageserver.NewRegistration(packageserver.RegistrationOptions{REST: own, Namespace: p.namespace, Address: at, Reached: local, Clock: clock.RealClock{},
		Life: life, Delay: delay, Log: logr.Discard()}))(t)
	must.NoError(t, registered.Prepare(t.Context()))
	p.shown = registered.Provider()
	p.server = must.Value(packageserver.New(t.Context(), packageserver.Config{REST: config, Cluster: oneCatalog{p.namespace}, Contents: p.contents,
		GlobalNamespace: p.namespace, Listener: listener, Certificate: p.shown, Clock: clock.RealClock{}, Log: logr.Discard()}))(t)
	p.contents.OnChange(func(catalog.Ref) { p.server.Changed() })
	p.publish("1.0.0")
	must.NoError(t, p.server.Open(t.Context()))
	p.run(registered)
	p.kill = func() {
		way.done.Store(true)
		_ = p.stop() // which fails to withdraw anything: there is no way any more
	}
	p.eventually("the API server to serve packages", func() error {
		_, err := p.dynamic.Resource(packages).Namespace("default").Get(t.Context(), "p", metav1.GetOptions{})
		return err
	})
	return p
}

// sweep removes what a failed test has left: other tests need a cluster in which namespaces can be deleted.
func (p *process) sweep() {
	left, err := p.dynamic.Resource(apiServices).Get(context.Background(), packageserver.APIServiceName, metav1.GetOptions{})
	if err != nil {
		return
	}
	if namespace, _, _ := unstructured.NestedString(left.Object, "spec", "service", "namespace"); namespace == p.namespace && p.t.Failed() {
		_ = p.dynamic.Resource(apiServices).Delete(context.Background(), packageserver.APIServiceName, metav1.DeleteOptions{})
	}
}

// run begins to serve; stop ends that as a manager does.
func (p *process) run(registered *packageserver.Registration) {
	leading, withdraw := context.WithCancel(context.Background())
	serving, end := context.WithCancel(context.Background())
	withdrawn, ended := make(chan error, 1), make(chan error, 1)
	go func() { ended <- p.server.Run(serving) }()
	go func() { withdrawn <- registered.Run(leading) }()
	stopped := false
	p.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		withdraw()
		err := <-withdrawn
		end()
		return errors.Join(err, <-ended)
	}
	p.t.Cleanup(func() {
		must.NoError(p.t, p.stop())
	})
}

func (p *process) publish(version string) {
	p.t.Helper()
	text := fmt.Sprintf(`{"schema":"olm.package","name":"p","defaultChannel":"stable"}{"schema":"olm.channel","package":"p","name":"stable","entries":[{"name":"p.v%[1]s"}]}
		{"schema":"olm.bundle","package":"p","name":"p.v%[1]s","image":"quay.io/p@sha256:%064[2]d","properties":[{"type":"olm.package","value":{"packageName":"p","version":%[1]q}},
		{"type":"olm.csv.metadata","value":{"displayName":"P"}}]}`, version, 1)
	c := must.Value(catalog.Load(p.t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(text)}}, catalog.LoadOptions{}))(p.t)
	x := must.Value(catalog.NewIndex(c, "sha256:"+version))(p.t)
	p.contents.Publish(catalog.Ref{Namespace: p.namespace, Name: "global"}, catalogstore.Entry{Index: x})
}

func (p *process) eventually(what string, check func() error) {
	p.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("wait for %s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// raw asks the API server for a path, with a header.
func (p *process) raw(path string, header ...string) (int, string) {
	r := p.client.RESTClient().Get().AbsPath(path)
	if len(header) > 0 {
		r.SetHeader(header[0], header[1:]...)
	}
	var code int
	body, _ := r.Do(p.t.Context()).StatusCode(&code).Raw()
	return code, string(body)
}

func TestThroughTheAPIServer(t *testing.T) {
	p := start(t, 0, 0)
	const base = "/apis/packages.operators.coreos.com/v1/namespaces/default/packagemanifests"
	one, err := p.dynamic.Resource(packages).Namespace("default").Get(t.Context(), "p", metav1.GetOptions{})
	must.NoErrorf(t, err, "get")
	must.Equal(t, "get", one.GetLabels()["catalog"], "global")
	list, err := p.dynamic.Resource(packages).List(t.Context(), metav1.ListOptions{LabelSelector: "catalog=global"})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetNamespace() != p.namespace {
		t.Errorf("list: %v, %v", list, err)
	}
	if code, body := p.raw(base, "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"); code != http.StatusOK || !strings.Contains(body, `"cells":["p","The catalog",`) {
		t.Errorf("table: %d %s", code, body)
	}
	if code, body := p.raw(base + "/p/icon"); code != http.StatusOK || !strings.Contains(body, "<svg") {
		t.Errorf("icon: %d %s", code, body)
	}
	p.eventually("the description of the API", func() error {
		code, body := p.raw("/openapi/v3/apis/packages.operators.coreos.com/v1")
		if code != http.StatusOK || !strings.Contains(body, "currentCSVDesc") {
			return fmt.Errorf("%d %.200s", code, body)
		}
		return nil
	})
	events := must.Value(p.dynamic.Resource(packages).Namespace("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}))(t)
	defer events.Stop()
	p.publish("2.0.0")
	select {
	case e := <-events.ResultChan():
		must.Equal(t, "watch", e.Type, "MODIFIED")
	case <-time.After(20 * time.Second):
		t.Error("watch: the new content is not told")
	}
}

// TestWhoMayRead asks as somebody who was given nothing, and then the usual role to look at a namespace.
func TestWhoMayRead(t *testing.T) {
	p := start(t, 0, 0)
	config := devcluster.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "reader-" + p.namespace, Groups: []string{"system:authenticated"}}
	reader := dynamic.NewForConfigOrDie(config).Resource(packages)
	if _, err := reader.Namespace(p.namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Fatalf("somebody without a role: %v, want that it is forbidden", err)
	}
	role := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "view"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: config.Impersonate.UserName}}}
	must.Value(p.client.RbacV1().RoleBindings(p.namespace).Create(t.Context(), role, metav1.CreateOptions{}))(t)
	p.eventually("the role to be in force", func() error {
		_, err := reader.Namespace(p.namespace).List(t.Context(), metav1.ListOptions{})
		return err
	})
	if _, err := reader.Namespace("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("another namespace: %v, want that it is forbidden", err)
	}
}

// TestNamespacesGoWithoutTheServer stops the only server and deletes a namespace.
func TestNamespacesGoWithoutTheServer(t *testing.T) {
	sweep.Nightly(t, "TestOneOfTwoIsKilled stops the last server as well, and finds its APIService withdrawn: nothing of it is left that a namespace waits for")
	p := start(t, 0, 0)
	must.NoError(t, p.stop())
	p.withdrawn()
	p.deletes(p.namespace + "-goes")
}

// withdrawn checks that the API is gone.
func (p *process) withdrawn() {
	p.t.Helper()
	if _, err := p.dynamic.Resource(apiServices).Get(p.t.Context(), packageserver.APIServiceName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		p.t.Fatalf("the APIService is there without a server: %v", err)
	}
}

// deletes creates a namespace and waits until it is deleted again.
func (p *process) deletes(name string) {
	p.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	must.Value(p.client.CoreV1().Namespaces().Create(p.t.Context(), namespace, metav1.CreateOptions{}))(p.t)
	must.NoError(p.t, p.client.CoreV1().Namespaces().Delete(p.t.Context(), name, metav1.DeleteOptions{}))
	p.gone(name)
}

func (p *process) gone(namespace string) {
	p.t.Helper()
	p.eventually("the namespace to be gone", func() error {
		live, err := p.client.CoreV1().Namespaces().Get(p.t.Context(), namespace, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("it is still there: %+v", live.Status))
	})
}

// endpoints are how many processes the API server is led to.
func (p *process) endpoints() (int, error) {
	list, err := p.client.DiscoveryV1().EndpointSlices(p.namespace).List(p.t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + packageserver.ServiceName})
	return len(list.Items), err
}

// TestOneOfTwoIsKilled asks all the time while one process dies and another begins: requests fail only until the endpoint of the dead one is
// removed. The last one to be killed leaves the API behind, and the next one that begins takes it away before anything else.
func TestOneOfTwoIsKilled(t *testing.T) {
	one := start(t, 0, 0)
	two := startIn(t, one.namespace, 0, 0)
	two.eventually("both to serve", func() error {
		if n, err := two.endpoints(); n != 2 || err != nil {
			return fmt.Errorf("%d endpoints, %w", n, err)
		}
		return nil
	})
	get := func() error {
		_, err := two.dynamic.Resource(packages).Namespace("default").Get(t.Context(), "p", metav1.GetOptions{})
		return err
	}
	for range 50 {
		must.NoErrorf(t, get(), "while both serve")
	}
	killed := time.Now()
	one.kill()
	failed, lastFailure, removed := 0, killed, time.Time{}
	for asked, fine := 0, 0; fine < 200; asked++ {
		if n, err := two.endpoints(); err == nil && n == 1 && removed.IsZero() {
			removed = time.Now()
		}
		if get() == nil {
			if !removed.IsZero() {
				fine++
			}
		} else {
			failed, lastFailure, fine = failed+1, time.Now(), 0
		}
		if time.Since(killed) > time.Minute {
			t.Fatalf("%d of %d requests failed; the endpoint was removed after %s", failed, asked, removed.Sub(killed))
		}
	}
	t.Logf("the endpoint was removed %s after the kill, %d requests failed, the last after %s", removed.Sub(killed).Round(time.Millisecond), failed, lastFailure.Sub(killed).Round(time.Millisecond))
	if late := lastFailure.Sub(removed); late > 5*time.Second {
		t.Errorf("requests fail for %s after the endpoint was removed", late)
	}
	one.deletes(one.namespace + "-goes") // with one of two left
	two.kill()
	three := startIn(t, one.namespace, 0, 0)
	three.deletes(one.namespace + "-goes-too")
	must.NoError(t, three.stop())
	three.withdrawn()
}

// TestItsOwnNamespace is deleted while the server is in it.
func TestItsOwnNamespace(t *testing.T) {
	devcluster.Namespace(t) // waits for the cluster
	p := startIn(t, "packages-go", 0, 0)
	must.NoError(t, p.client.CoreV1().Namespaces().Delete(t.Context(), p.namespace, metav1.DeleteOptions{}))
	p.gone(p.namespace)
	must.NoError(t, p.stop())
}

// TestInformer follows packages with the machinery that controllers use, through the API server.
func TestInformer(t *testing.T) {
	p := start(t, 0, 0)
	informers := dynamicinformer.NewFilteredDynamicSharedInformerFactory(p.dynamic, 0, "default", nil)
	store := informers.ForResource(packages)
	informers.Start(t.Context().Done())
	if !cache.WaitForCacheSync(t.Context().Done(), store.Informer().HasSynced) {
		t.Fatal("the packages are not there")
	}
	for i := range 5 {
		version := fmt.Sprintf("1.%d.0", i)
		p.publish(version)
		p.eventually("version "+version, func() error {
			object, err := store.Lister().ByNamespace("default").Get("p")
			if err != nil {
				return err
			}
			channels, _, err := unstructured.NestedSlice(object.(*unstructured.Unstructured).Object, "status", "channels")
			if err == nil && (len(channels) != 1 || channels[0].(map[string]any)["currentCSV"] != "p.v"+version) {
				err = fmt.Errorf("%v", channels)
			}
			return err
		})
	}
}

// TestRegistrationHeals deletes everything that leads to the server, one after the other.
func TestRegistrationHeals(t *testing.T) {
	p := start(t, 0, time.Second)
	all := metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + packageserver.ServiceName}
	none := metav1.DeleteOptions{}
	for name, remove := range map[string]func() error{
		"APIService": func() error {
			return p.dynamic.Resource(apiServices).Delete(t.Context(), packageserver.APIServiceName, none)
		},
		"Service": func() error {
			return p.client.CoreV1().Services(p.namespace).Delete(t.Context(), packageserver.ServiceName, none)
		},
		"EndpointSlice": func() error {
			return p.client.DiscoveryV1().EndpointSlices(p.namespace).DeleteCollection(t.Context(), none, all)
		},
		"Secret": func() error {
			return p.client.CoreV1().Secrets(p.namespace).Delete(t.Context(), packageserver.ServiceName+"-cert", none)
		},
	} {
		must.NoErrorf(t, remove(), "delete the %s", name)
		p.eventually("packages to be served again without "+name, func() error {
			if _, err := p.dynamic.Resource(apiServices).Get(t.Context(), packageserver.APIServiceName, metav1.GetOptions{}); err != nil {
				return err
			}
			if _, err := p.client.CoreV1().Services(p.namespace).Get(t.Context(), packageserver.ServiceName, metav1.GetOptions{}); err != nil {
				return err
			}
			if _, err := p.client.CoreV1().Secrets(p.namespace).Get(t.Context(), packageserver.ServiceName+"-cert", metav1.GetOptions{}); err != nil {
				return err
			}
			slices, err := p.client.DiscoveryV1().EndpointSlices(p.namespace).List(t.Context(), all)
			if err == nil && len(slices.Items) != 1 {
				err = fmt.Errorf("there are %d EndpointSlices", len(slices.Items))
			}
			if err == nil {
				_, err = p.dynamic.Resource(packages).Namespace("default").Get(t.Context(), "p", metav1.GetOptions{})
			}
			return err
		})
	}
}

// TestRotationIsNotNoticed lets certificates live so short that a new one is made every few seconds, and asks all the time. A third of the life
// of a certificate that begins in the past, as all do, is what matters.
func TestRotationIsNotNoticed(t *testing.T) {
	p := start(t, 155*time.Second, time.Second)
	certificates, requests, want := map[string]bool{}, 0, sweep.Of(3, 3, 4)
	for end := time.Now().Add(60 * time.Second); len(certificates) < want && time.Now().Before(end); requests++ {
		// Each request is a new connection from the API server or one that it has; both must work.
		if _, err := p.dynamic.Resource(packages).Namespace("default").Get(t.Context(), "p", metav1.GetOptions{}); err != nil {
			t.Fatalf("request %d, after %d certificates: %v", requests, len(certificates), err)
		}
		certificate, _ := p.shown.CurrentCertKeyContent()
		certificates[string(certificate)] = true
		time.Sleep(20 * time.Millisecond)
	}
	if len(certificates) < want {
		t.Errorf("only %d certificates were shown during %d requests", len(certificates), requests)
	}
	t.Logf("%d requests during %d certificates", requests, len(certificates))
}
