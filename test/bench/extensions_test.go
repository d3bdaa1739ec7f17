package bench

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/image"
)

// extensionsVariable changes how many ClusterExtensions are measured; 200 by default.
const extensionsVariable = "FAIRLEAD_BENCH_EXTENSIONS"

// catalogChanges is how many changes of the catalog are averaged over.
const catalogChanges = 5

// BenchmarkExtensions installs one ClusterExtension, then many, watches the manager while nothing happens, and then publishes a catalog
// in which only a package that nobody has installed differs:
//
//	go test ./test/bench -run '^$' -bench Extensions -benchtime 1x -timeout 1h
//
// It prints the seconds until the first one worked, those until all did, how much of a processor and how many writes the manager takes
// when idle, the processor time that such a change of the catalog costs, and the memory of the manager.
func BenchmarkExtensions(b *testing.B) {
	count := number(b, extensionsVariable, 200)
	registry := httptest.NewServer(image.NewRegistry(b.TempDir()))
	defer registry.Close()
	w := &extensions{B: b, registry: strings.TrimPrefix(registry.URL, "http://"), images: map[int]string{}}
	kubeconfig, _ := startCluster(b)
	w.Client = connect(b, kubeconfig)
	w.must(w.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}))
	w.must(w.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "extensions"}}))
	for i := range count {
		// Push an operator with a definition, permissions and a Deployment.
		name := fmt.Sprintf("operator-%d", i)
		labels := image.BundleLabels(name, []string{"stable"}, "stable")
		annotations, err := json.Marshal(map[string]any{"annotations": labels})
		w.must(err)
		w.images[i] = w.push(fmt.Sprintf("%s/%s:v1", w.registry, name), map[string][]byte{
			"metadata/annotations.json": annotations,
			"manifests/crd.json": fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.o%d.example.com"},
			"spec":{"group":"o%[1]d.example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object"}}}}}]}}`, i),
			"manifests/csv.json": fmt.Appendf(nil, `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"%s.v1.0.0"},"spec":{"version":"1.0.0",
			"installModes":[{"type":"AllNamespaces","supported":true}],"customresourcedefinitions":{"owned":[{"name":"things.o%d.example.com","version":"v1","kind":"Thing"}]},
			"install":{"strategy":"deployment","spec":{"clusterPermissions":[{"serviceAccountName":"%[1]s","rules":[{"apiGroups":["o%[2]d.example.com"],"resources":["things"],"verbs":["*"]}]}],
			"deployments":[{"name":"%[1]s","spec":{"replicas":1,"selector":{"matchLabels":{"app":"%[1]s"}},"template":{"metadata":{"labels":{"app":"%[1]s"}},
			"spec":{"serviceAccountName":"%[1]s","containers":[{"name":"operator","image":"registry.example.com/operator:1"}]}}}}]}}}}`, name, i),
		}, labels)
	}
	m := startManager(b, kubeconfig)
	w.serve()
	alone, _ := w.change(m)
	for b.Loop() {
		start := time.Now()
		w.install(0)
		w.await(1)
		b.ReportMetric(time.Since(start).Seconds(), "s-one-works")
		before := m.cpu()
		start = time.Now()
		for i := 1; i < count; i++ {
			w.install(i)
		}
		w.await(count)
		b.ReportMetric(time.Since(start).Seconds(), "s-all-work")
		b.ReportMetric((m.cpu() - before).Seconds(), "s-CPU")
	}
	time.Sleep(20 * time.Second) // for what follows an installation
	idle(b, m)
	b.ReportMetric(m.memory("VmRSS"), "MB-idle")
	cpu, writes := w.change(m)
	b.ReportMetric(1000*cpu, "ms-CPU-of-a-catalog-change")
	b.ReportMetric(1000*(cpu-alone), "ms-CPU-of-it-for-extensions")
	b.ReportMetric(writes, "writes-of-a-catalog-change")
}

// change publishes the catalog a few times, and returns the seconds of processor time and the writes that one time costs the manager.
func (w *extensions) change(m *process) (cpu, writes float64) {
	w.Helper()
	time.Sleep(5 * time.Second) // for what is still being done
	before, written := m.cpu(), m.writes()
	for range catalogChanges {
		w.serve()
		time.Sleep(2 * time.Second) // for whoever looks at it a little later
	}
	return (m.cpu() - before).Seconds() / catalogChanges, (m.writes() - written) / catalogChanges
}

// extensions is what ClusterExtensions come from.
type extensions struct {
	*testing.B
	client.Client
	registry string // host:port
	images   map[int]string
	served   int // how often the catalog was published
}

func (w *extensions) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *extensions) push(ref string, files map[string][]byte, labels map[string]string) string {
	w.Helper()
	tree, err := image.Files(files)
	w.must(err)
	digest, err := image.Push(w.Context(), ref, tree, labels, image.PushOptions{})
	w.must(err)
	name, _, _ := strings.Cut(ref, ":v")
	return name + "@" + digest
}

// serve publishes the catalog with a new version of a package that nobody wants, and waits until it is served.
func (w *extensions) serve() {
	w.Helper()
	version := w.served
	w.served++
	var out strings.Builder
	add := func(name, v, ref string) {
		fmt.Fprintf(&out, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"%[1]s.v%[2]s"}]}
			{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v%[2]s","image":%[3]q,"properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":%[2]q}}]}`, name, v, ref)
	}
	for i := range w.images {
		add(fmt.Sprintf("operator-%d", i), "1.0.0", w.images[i])
	}
	add("bystander", fmt.Sprintf("1.%d.0", version), w.registry+"/bystander:v1")
	ref := w.push(fmt.Sprintf("%s/catalog:v%d", w.registry, version), map[string][]byte{"configs/catalog.json": []byte(out.String())}, image.CatalogLabels())
	source := olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}
	catalog := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "catalog"}, Spec: olmv1.ClusterCatalogSpec{Source: source}}
	if version == 0 {
		w.must(w.Create(w.Context(), catalog))
	} else {
		w.must(w.Patch(w.Context(), catalog, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"source":{"image":{"ref":%q}}}}`, ref))))
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		w.must(w.Get(w.Context(), client.ObjectKeyFromObject(catalog), catalog))
		if resolved := catalog.Status.ResolvedSource; resolved != nil && resolved.Image != nil && resolved.Image.Ref == ref &&
			meta.IsStatusConditionTrue(catalog.Status.Conditions, olmv1.TypeServing) {
			return
		}
	}
	w.Fatalf("the catalog is not served: %+v", catalog.Status)
}

func (w *extensions) install(i int) {
	w.Helper()
	name := fmt.Sprintf("operator-%d", i)
	w.must(w.Create(w.Context(), &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterExtensionSpec{
		Namespace: "extensions", Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: name}}}}))
}

// await waits until so many extensions are installed and work.
func (w *extensions) await(count int) {
	w.Helper()
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var list olmv1.ClusterExtensionList
		w.must(w.List(w.Context(), &list))
		done := 0
		for i := range list.Items {
			conditions := list.Items[i].Status.Conditions
			if meta.IsStatusConditionTrue(conditions, olmv1.TypeInstalled) && meta.IsStatusConditionTrue(conditions, olmv1.TypeAvailable) {
				done++
			} else {
				last = fmt.Sprintf("%s: %+v", list.Items[i].Name, conditions)
			}
		}
		if done == count {
			return
		}
	}
	w.Fatalf("not all of %d extensions work; one of the others is %s", count, last)
}
