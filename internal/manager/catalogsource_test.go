package manager

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fileBased is a catalog of one package whose bundle is in an image.
func fileBased(pkg, image string) string {
	return fmt.Sprintf(`{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable"}
{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v1.0.0"}]}
{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1.0.0","image":%[2]q,"properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}}]}`, pkg, image)
}

// source is the CatalogSource of the test, with another spec.
func (w *world) source(spec v1alpha1.CatalogSourceSpec) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog"}, Spec: spec}
}

// until waits until the status of the CatalogSource is as wanted.
func (w *world) until(what string, holds func(s *v1alpha1.CatalogSource) bool) *v1alpha1.CatalogSource {
	w.t.Helper()
	var s v1alpha1.CatalogSource
	w.eventually("the CatalogSource "+what, func() error {
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "catalog"}, &s); err != nil {
			return err
		}
		if !holds(&s) {
			return fmt.Errorf("status %+v", s.Status)
		}
		return nil
	})
	return &s
}

func state(want string) func(*v1alpha1.CatalogSource) bool {
	return func(s *v1alpha1.CatalogSource) bool {
		return s.Status.GRPCConnectionState != nil && s.Status.GRPCConnectionState.LastObservedState == want
	}
}

// TestInstallFromAConfigMap: legacy manifests in a ConfigMap are installed; a change of it is followed; what is wrong with it is told.
func TestInstallFromAConfigMap(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: "app", version: "1.0.0", mode: "AllNamespaces"}
	list := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "content"}, Data: map[string]string{
		"packages":               `[{"packageName":"app","defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"app.v1.0.0"}]}]`,
		"clusterServiceVersions": list(string(w.manifest(o))),
	}}
	w.create(w.allNamespaces(), content, w.source(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeInternal, ConfigMap: "content"}), w.subscribe("app"))
	w.succeeds("app.v1.0.0")
	s := w.until("to name its ConfigMap", func(s *v1alpha1.CatalogSource) bool { return s.Status.ConfigMapResource != nil })
	if r := s.Status.ConfigMapResource; r.Name != "content" || r.Namespace != w.namespace || r.UID != content.UID || r.ResourceVersion == "" {
		t.Errorf("configMapReference %+v of ConfigMap %s", r, content.UID)
	}
	w.served("app")
	update(w, content, func(m *corev1.ConfigMap) { m.Data["packages"] = "garbled" })
	w.until("to tell of the ConfigMap", func(s *v1alpha1.CatalogSource) bool {
		return s.Status.Reason == v1alpha1.CatalogSourceConfigMapError && strings.Contains(s.Status.Message, "key packages")
	})
	w.served("app")
	newer := o
	newer.version = "1.1.0"
	update(w, content, func(m *corev1.ConfigMap) {
		m.Data["packages"] = strings.ReplaceAll(`[{"packageName":"app","defaultChannel":"stable","channels":[{"name":"stable","currentCSV":"app.v1.0.0"}]}]`, "v1.0.0", "v1.1.0")
		m.Data["clusterServiceVersions"] = list(string(w.manifest(o)), strings.Replace(string(w.manifest(newer)), `"spec":{`, `"spec":{"replaces":"app.v1.0.0",`, 1))
	})
	w.succeeds("app.v1.1.0")
	w.until("to be right again", func(s *v1alpha1.CatalogSource) bool { return s.Status.Reason == "" && s.Status.Message == "" })
	// Another ConfigMap, with a file-based catalog, is created after it was asked for.
	update(w, s, func(s *v1alpha1.CatalogSource) { s.Spec.ConfigMap = "other" })
	w.until("to miss the other ConfigMap", func(s *v1alpha1.CatalogSource) bool { return strings.Contains(s.Status.Message, "not found") })
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "other"}, Data: map[string]string{"catalog.json": fileBased("more", "registry.example.com/more:v1")}})
	w.served("more")
}

// TestInstallFromARegistryServer: the server is dialled, goes away, comes back with more.
func TestInstallFromARegistryServer(t *testing.T) {
	w := newWorld(t)
	set := &catalogserver.Set{}
	publish := func(content string) {
		c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(content)}}, catalog.LoadOptions{}))(t)
		x := must.Value(catalog.NewIndex(c, content))(t)
		set.Publish("c", x)
	}
	publish(fileBased("app", w.bundle(operator{pkg: "app", version: "1.0.0"})))
	address, stop := serveCatalogs(t, "127.0.0.1:0", set)
	w.create(w.allNamespaces(), w.source(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: address}), w.subscribe("app"))
	w.succeeds("app.v1.0.0")
	s := w.until("to be connected", state("READY"))
	if c := s.Status.GRPCConnectionState; c.Address != address || c.LastConnectTime.IsZero() || s.Status.RegistryServiceStatus.ServiceName != "" {
		t.Errorf("connectionState %+v, registryService %+v", c, s.Status.RegistryServiceStatus)
	}
	stop()
	w.until("to fail", state("TRANSIENT_FAILURE"))
	publish(fileBased("app", w.bundle(operator{pkg: "app", version: "1.0.0"})) + fileBased("more", w.bundle(operator{pkg: "more", version: "1.0.0"})))
	_, stop = serveCatalogs(t, address, set)
	defer stop()
	more := w.subscribe("more")
	w.create(more)
	w.until("to be connected again", state("READY"))
	w.succeeds("more.v1.0.0")
}

func serveCatalogs(t *testing.T, at string, set *catalogserver.Set) (address string, stop func()) {
	t.Helper()
	listener := must.Value(net.Listen("tcp", at))(t)
	health := catalogserver.NewHealth()
	health.Set(true)
	s := catalogserver.NewGRPC(set, health, slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	return listener.Addr().String(), s.Stop
}

// TestAnImageIsRunAsAPod: an image without file-based catalog gets a pod with all that belongs to it; what is deleted comes back. Simulated
// pods have no sockets, so that what the pod says is not read here.
func TestAnImageIsRunAsAPod(t *testing.T) {
	w := newWorld(t)
	ref := w.push(w.namespace+"/old:v1", map[string][]byte{"database/index.db": []byte("sqlite")}, map[string]string{"operators.operatorframework.io.index.database.v1": "/database/index.db"})
	spec := v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref, GrpcPodConfig: &v1alpha1.GrpcPodConfig{SecurityContextConfig: v1alpha1.Restricted}}
	w.create(w.source(spec))
	w.until("to name the Service of its pod", func(s *v1alpha1.CatalogSource) bool {
		r := s.Status.RegistryServiceStatus
		return r != nil && r.ServiceName == "catalog" && s.Status.GRPCConnectionState.Address == "catalog."+w.namespace+".svc:50051"
	})
	pod := w.catalogPod("")
	if pod.Spec.Containers[0].Image != ref || pod.Spec.Containers[0].Name != "registry-server" {
		t.Errorf("the pod runs %+v", pod.Spec.Containers)
	}
	w.gone(pod)
	w.catalogPod(string(pod.UID))
	for _, o := range []client.Object{
		&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog-grpc-server"}},
		&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog-unpack-bundles"}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog"}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog"}},
	} {
		w.gone(o)
		w.eventually(fmt.Sprintf("%T %s to come back", o, o.GetName()), func() error { return w.client.Get(t.Context(), client.ObjectKeyFromObject(o), o) })
	}
	// The tag gets a file-based catalog, and another image is asked for: the manager serves it from then on.
	update(w, w.source(spec), func(s *v1alpha1.CatalogSource) {
		s.Spec = w.catalogSource(w.catalog(operator{pkg: "app", version: "1.0.0"})).Spec
	})
	w.served("app")
	w.eventually("the pod to go", func() error {
		var list corev1.PodList
		if err := w.client.List(t.Context(), &list, client.InNamespace(w.namespace)); err != nil || len(list.Items) == 0 {
			return err
		}
		return fmt.Errorf("%d are there", len(list.Items))
	})
}

// catalogPod waits for a pod of the catalog that is another than the given one.
func (w *world) catalogPod(before string) *corev1.Pod {
	w.t.Helper()
	var found *corev1.Pod
	w.eventually("a pod", func() error {
		var list corev1.PodList
		if err := w.client.List(w.t.Context(), &list, client.InNamespace(w.namespace), client.MatchingLabels{"olm.catalogSource": "catalog", "olm.managed": "true"}); err != nil {
			return err
		}
		for i := range list.Items {
			if p := &list.Items[i]; string(p.UID) != before && p.DeletionTimestamp == nil {
				found = p
				return nil
			}
		}
		return fmt.Errorf("there is none")
	})
	return found
}

// TestImageTemplates: the image follows the version of the cluster, and is polled at a bad interval as documented.
func TestImageTemplates(t *testing.T) {
	w := newWorld(t)
	image := w.catalog(operator{pkg: "app", version: "1.0.0"})
	s := w.catalogSource("")
	s.Annotations = map[string]string{v1alpha1.CatalogImageTemplateAnnotation: strings.ReplaceAll(image, ":latest", ":v{kube_major_version}")}
	s.Spec.UpdateStrategy.RegistryPoll = &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: 15 * time.Minute}, RawInterval: "often", ParsingError: "it is kept as it was written"}
	w.create(s)
	got := w.until("to have an image", func(s *v1alpha1.CatalogSource) bool { return strings.HasSuffix(s.Spec.Image, "/catalog:v1") })
	w.until("to miss it", func(s *v1alpha1.CatalogSource) bool {
		return s.Status.Reason == v1alpha1.CatalogSourceRegistryServerError
	})
	update(w, got, func(s *v1alpha1.CatalogSource) {
		s.Annotations[v1alpha1.CatalogImageTemplateAnnotation] = image
	})
	w.served("app")
	got = w.until("to tell of the interval", func(s *v1alpha1.CatalogSource) bool {
		return s.Status.Reason == v1alpha1.CatalogSourceIntervalInvalidError && strings.Contains(s.Status.Message, "15m0s")
	})
	for _, kind := range []string{"TemplatesHaveResolved", "ResolvedImage"} {
		found := false
		for _, c := range got.Status.Conditions {
			found = found || c.Type == kind && c.Status == metav1.ConditionTrue && c.Reason == "AllTemplatesResolved"
		}
		if !found {
			t.Errorf("condition %s: %+v", kind, got.Status.Conditions)
		}
	}
	update(w, got, func(s *v1alpha1.CatalogSource) {
		s.Spec.UpdateStrategy.RegistryPoll = &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Minute}, RawInterval: "1m"}
	})
	w.until("to be right", func(s *v1alpha1.CatalogSource) bool { return s.Status.Reason == "" && s.Status.Message == "" })
}

// TestABrokenGlobalCatalogIsLeftOut: of resolution in a namespace whose OperatorGroup says so.
func TestABrokenGlobalCatalogIsLeftOut(t *testing.T) {
	w := newWorldAlone(t)
	broken := w.source(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "127.0.0.1:1/nobody:v1"})
	broken.Namespace, broken.Name = DefaultGlobalNamespace, w.namespace
	must.NoError(t, client.IgnoreAlreadyExists(w.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: DefaultGlobalNamespace}})))
	w.create(broken)
	t.Cleanup(func() { _ = w.client.Delete(context.Background(), broken) })
	group := w.allNamespaces()
	group.Annotations = map[string]string{v1alpha1.ExcludeGlobalNamespaceAnnotation: "true"}
	w.create(group, w.catalogSource(w.catalog(operator{pkg: "app", version: "1.0.0"})), w.subscribe("app"))
	w.succeeds("app.v1.0.0")
	for _, c := range w.subscription("app").Status.Conditions {
		if c.Type == v1alpha1.SubscriptionCatalogSourcesUnhealthy && c.Status == corev1.ConditionTrue {
			t.Errorf("a catalog that is left out makes the Subscription unhealthy: %+v", c)
		}
	}
}

// TestAGlobalCatalogIsFollowed: other namespaces get what is new in it, and an operator outlives its catalog.
func TestAGlobalCatalogIsFollowed(t *testing.T) {
	w := newWorldAlone(t)
	must.NoError(t, client.IgnoreAlreadyExists(w.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: DefaultGlobalNamespace}})))
	o := operator{pkg: "app-" + w.namespace, version: "1.0.0"}
	global := w.catalogSource(w.catalog(o))
	global.Namespace, global.Name = DefaultGlobalNamespace, w.namespace
	sub := w.subscribe(o.pkg)
	sub.Spec.CatalogSource, sub.Spec.CatalogSourceNamespace = global.Name, global.Namespace
	w.create(w.allNamespaces(), global, sub)
	t.Cleanup(func() { _ = w.client.Delete(context.Background(), global) })
	w.succeeds(o.name())
	newer := o
	newer.version = "1.1.0"
	w.catalog(o, newer)
	w.succeeds(newer.name())
	w.gone(global)
	w.eventually("the catalog to go", func() error {
		if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(global), global); err == nil {
			return fmt.Errorf("it is still there")
		}
		return nil
	})
	time.Sleep(2 * time.Second) // for what should not happen
	w.succeeds(newer.name())
}
