package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	consoleUsers   = 4
	consoleStreams = 20
	// mostConsole is how much more memory the manager may take with the console and its streams, in MB.
	mostConsole = 8.0
	// publicPackages is how many the full public catalog has.
	publicPackages = 331
)

// BenchmarkConsole measures the memory of the manager that serves the full public catalog by both APIs: without the console, with it, and with 20 streams of
// four users who have read the catalog and other pages:
//
//	go test ./test/bench -run '^$' -bench Console -benchtime 3x -timeout 1h
//
// It prints MB of resident memory, and of heap and stacks after a collection of garbage, and fails where the console with its streams takes more than 8 MB of
// them: the median of the rounds, as one and the same manager differs by 2 MB from round to round.
func BenchmarkConsole(b *testing.B) {
	kubeconfig, _ := startCluster(b)
	c := connect(b, kubeconfig)
	must.NoError(b, c.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}))
	registry := httptest.NewServer(image.NewRegistry(b.TempDir()))
	b.Cleanup(registry.Close)
	catalogs := publicCatalogs(b, strings.TrimPrefix(registry.URL, "http://"))
	for _, o := range catalogs {
		must.NoError(b, c.Create(b.Context(), o))
	}
	store := []string{"--debug", "--store", b.TempDir()}
	first := startManagerWith(b, kubeconfig, store) // which pulls them: the others find what it has kept
	awaitServed(b, c, catalogs)
	first.stop()
	var tokens []string
	for i := range consoleUsers {
		tokens = append(tokens, account(b, c, fmt.Sprint("user-", i)))
	}
	rounds := map[string][]float64{}
	for b.Loop() {
		off := startManagerWith(b, kubeconfig, store)
		without := off.rests(b, "off", rounds)
		off.stop()
		address := harness.FreeAddress(b)
		on := startManagerWith(b, kubeconfig, append(store, "--console", "--console-address", address))
		with := on.rests(b, "on", rounds)
		ctx, cancel := context.WithCancel(b.Context())
		for _, token := range tokens {
			visit(ctx, b, address, token, consoleStreams/consoleUsers)
		}
		streams := on.rests(b, "streams", rounds)
		rounds["MB-more-on"], rounds["MB-more-streams"] = append(rounds["MB-more-on"], with-without), append(rounds["MB-more-streams"], streams-without)
		cancel()
		on.stop()
	}
	for unit, values := range rounds {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], unit)
	}
	if more := rounds["MB-more-streams"]; more[len(more)/2] > mostConsole {
		b.Errorf("the console with %d streams takes %.1f MB; want %.0f MB at most. All rounds: %.1f", consoleStreams, more[len(more)/2], mostConsole, more)
	}
}

// publicCatalogs are a CatalogSource and a ClusterCatalog with the full public catalog, which is pushed to a registry.
func publicCatalogs(b *testing.B, registry string) []client.Object {
	b.Helper()
	files := map[string][]byte{}
	publicdata.Each(b, publicdata.FullCatalog, func(name string, content func() []byte) { files[path.Join("configs", name)] = content() })
	tree := must.Value(image.Files(files))(b)
	ref := registry + "/community"
	ref += "@" + must.Value(image.Push(b.Context(), ref+":latest", tree, image.CatalogLabels(), image.PushOptions{}))(b)
	return []client.Object{
		&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "community"}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}},
		&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "community"},
			Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}},
	}
}

// awaitServed waits until the manager serves catalogs.
func awaitServed(b *testing.B, c client.Client, catalogs []client.Object) {
	b.Helper()
	must.EventuallyWithin(b, "the catalogs to be served", 5*time.Minute, func() error {
		for _, o := range catalogs {
			if err := c.Get(b.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			switch o := o.(type) {
			case *v1alpha1.CatalogSource:
				if state := o.Status.GRPCConnectionState; state == nil || state.LastObservedState != "READY" {
					return fmt.Errorf("CatalogSource: %+v", o.Status)
				}
			case *olmv1.ClusterCatalog:
				if !meta.IsStatusConditionTrue(o.Status.Conditions, olmv1.TypeServing) {
					return fmt.Errorf("ClusterCatalog: %+v", o.Status.Conditions)
				}
			}
		}
		return nil
	})
}

// rests waits until the manager has nothing to do, which is when its memory stays as it is, and returns its heap and stacks after a collection of garbage.
func (p *process) rests(b *testing.B, name string, rounds map[string][]float64) float64 {
	b.Helper()
	p.awaitReady(time.Now().Add(2 * time.Minute))
	time.Sleep(15 * time.Second)
	heap := p.collected(b)
	for range 12 {
		time.Sleep(5 * time.Second)
		before := heap
		if heap = p.collected(b); math.Abs(heap-before) < 0.2 {
			break
		}
	}
	rounds["MB-heap-"+name] = append(rounds["MB-heap-"+name], heap)
	rounds["MB-"+name] = append(rounds["MB-"+name], p.memory("VmRSS"))
	return heap
}

// collected is the heap and the stacks of the manager in MB, after a collection of garbage, and of what that has made garbage of.
func (p *process) collected(b *testing.B) (heap float64) {
	b.Helper()
	for range 3 {
		answer := must.Value(http.Get("http://" + p.metrics + "/debug/pprof/heap?gc=1"))(b)
		_, err := io.Copy(io.Discard, answer.Body)
		must.NoError(b, err)
		must.NoError(b, answer.Body.Close())
	}
	answer := must.Value(http.Get("http://" + p.metrics + "/metrics"))(b)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if name == "go_memstats_heap_alloc_bytes" || name == "go_memstats_stack_inuse_bytes" {
			heap += must.Value(strconv.ParseFloat(value, 64))(b) / 1e6
		}
	}
	return heap
}

// account makes a service account that may see everything, and returns its token.
func account(b *testing.B, c client.Client, name string) string {
	b.Helper()
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "olm", Name: name}}}
	must.NoError(b, c.Create(b.Context(), object))
	must.NoError(b, c.Create(b.Context(), binding))
	request := &authenticationv1.TokenRequest{}
	must.NoError(b, c.SubResource("token").Create(b.Context(), object, request))
	return request.Status.Token
}

// visit logs in, reads pages, and opens streams until the context ends.
func visit(ctx context.Context, b *testing.B, address, token string, streams int) {
	b.Helper()
	// Who is asked is not what is measured.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // G402: the manager on this machine
	v := &http.Client{Transport: transport, Jar: must.Value(cookiejar.New(nil))(b)}
	ask := func(method, path, body string) *http.Response {
		r := must.Value(http.NewRequestWithContext(ctx, method, "https://"+address+path, strings.NewReader(body)))(b)
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", "https://"+address)
		}
		answer := must.Value(v.Do(r))(b)
		must.Equal(b, method+" "+path, answer.StatusCode, http.StatusOK)
		return answer
	}
	read := func(page string) string {
		answer := ask(http.MethodGet, page, "")
		text := must.Value(io.ReadAll(answer.Body))(b)
		must.NoError(b, answer.Body.Close())
		return string(text)
	}
	must.NoError(b, ask(http.MethodPost, "/login", url.Values{"token": {token}}.Encode()).Body.Close())
	read("/installed")
	read("/catalog")
	var offered struct{ Total int }
	must.NoError(b, json.Unmarshal([]byte(read("/api/catalog?namespace=olm")), &offered))
	must.Equal(b, "packages that a user sees", offered.Total, publicPackages)
	must.Contain(b, "the catalog", read("/catalog?namespace=olm"), fmt.Sprint(publicPackages, " packages"))
	for _, pkg := range []string{"strimzi-kafka-operator", "grafana-operator"} {
		must.Contain(b, "the package", read("/package/"+pkg+"?namespace=olm&catalog=community"), pkg)
	}
	for range streams {
		answer := ask(http.MethodGet, "/live", "")
		context.AfterFunc(ctx, func() { _ = answer.Body.Close() })
	}
}
