package bench

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// mostMemory is what the manager may have at any time, in MB.
const mostMemory = 700

// atRest is how long the manager must have asked for nothing, and hardly have used the processor, to be at rest.
const (
	atRest     = 10 * time.Second
	atRestCPU  = atRest / 20
	recordRest = 15 * time.Second // longer than anything is put off for a lull
)

// ownDefinitions is part of the path of what a start applies, whatever is there.
const ownDefinitions = "/customresourcedefinitions/"

// BenchmarkTenants starts the manager on a cluster of very many namespaces, each with an up-to-date copy of the ClusterServiceVersion of
// every operator, and waits until it is at rest:
//
//	go test ./test/bench -run '^$' -bench Tenants -benchtime 1x -timeout 1h
//
// The cluster is simulated. A real one of this size takes hours to make on a small machine, so a real one of one tenant namespace is made,
// with public operators that this manager installs, and is recorded; then apiServer shows that namespace, and all that Kubernetes and the
// manager have made in it, 10,000 times. What is measured is therefore the manager and not Kubernetes: the objects are real ones, but the
// answers come faster than an API server has them, as JSON where that would send its own binary form, and nothing happens afterwards.
//
// It is done twice: with an API server that lets a watch begin with all objects, as those of Kubernetes 1.34 and later do, and with one that is
// asked for lists. It prints the seconds until the manager is ready and those until it is at rest, its memory then and the most that it ever
// had, its processor time, the requests that would have changed something, but for the CustomResourceDefinitions that a start applies, and how
// much it read. It fails where there was more memory than it should, or a copy was written.
func BenchmarkTenants(b *testing.B) {
	tenants, operators := number(b, namespacesVariable, 10_000), number(b, operatorsVariable, 5)
	recorded := recordOneTenant(b, operators)
	for _, how := range []struct {
		name    string
		streams bool
	}{{"streamed", true}, {"listed", false}} {
		b.Run(how.name, func(b *testing.B) {
			for b.Loop() {
				startUp(b, &apiServer{snapshot: recorded, tenants: tenants, streams: how.streams, writes: map[string]int{}})
			}
		})
	}
}

// startUp starts a manager and waits until it is at rest.
func startUp(b *testing.B, s *apiServer) {
	b.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	began := time.Now()
	// Write a kubeconfig of a server that needs no credentials.
	config := clientcmdapi.NewConfig()
	config.Clusters["simulated"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["simulated"] = &clientcmdapi.Context{Cluster: "simulated"}
	config.CurrentContext = "simulated"
	path := filepath.Join(b.TempDir(), "kubeconfig")
	must.NoError(b, clientcmd.WriteToFile(*config, path))
	must.NoError(b, os.Chmod(path, 0o600))
	m := startManager(b, path)
	defer m.stop()
	defer server.CloseClientConnections()
	m.awaitReady(began.Add(patience))
	b.ReportMetric(time.Since(began).Seconds(), "s-to-ready")
	cpu, since := m.cpu(), time.Now()
	for time.Since(since) < atRest || s.quietFor() < atRest {
		time.Sleep(100 * time.Millisecond)
		if now := m.cpu(); now-cpu > atRestCPU {
			cpu, since = now, time.Now()
		}
		if time.Since(began) > patience {
			b.Fatalf("the manager does not come to rest; it wrote %q", s.written())
		}
	}
	b.ReportMetric((time.Since(began) - atRest).Seconds(), "s-to-rest")
	b.ReportMetric(m.memory("VmRSS"), "MB-rest")
	peak := m.memory("VmHWM")
	b.ReportMetric(peak, "MB-peak")
	b.ReportMetric(m.cpu().Seconds(), "s-CPU")
	b.ReportMetric(float64(s.sent)/1e6, "MB-read")
	writes := slices.DeleteFunc(s.written(), func(request string) bool { return strings.Contains(request, ownDefinitions) })
	b.ReportMetric(float64(len(writes)), "writes")
	must.Empty(b, "a start on a cluster where all is as it should be wrote", writes)
	if peak > mostMemory {
		b.Errorf("the manager had %.0f MB of memory at most, more than %d MB, and %.0f MB at rest after %.0f s; %.0f s of CPU, %.0f MB read",
			peak, mostMemory, m.memory("VmRSS"), time.Since(began).Seconds(), m.cpu().Seconds(), float64(s.sent)/1e6)
	}
}

// recordOneTenant makes a cluster with operators that watch all namespaces, one tenant namespace, and a manager, and records it.
func recordOneTenant(b *testing.B, operators int) *snapshot {
	b.Helper()
	kubeconfig, stop := startCluster(b)
	defer stop()
	c := connect(b, kubeconfig)
	m := startManager(b, kubeconfig)
	defer m.stop()
	for _, bundle := range globalBundles(b, operators) {
		installBundle(b, c, bundle)
	}
	arrived := awaitCopies(b, c, operators)
	makeNamespaces(b, c, 1)
	select {
	case <-arrived:
	case <-time.After(patience):
		b.Fatal("there are copies missing")
	}
	for writes, since := m.writes(), time.Now(); time.Since(since) < recordRest; time.Sleep(time.Second) {
		if now := m.writes(); now != writes {
			writes, since = now, time.Now()
		}
	}
	return record(b, kubeconfig, tenantName(0))
}

// installBundle installs an operator for all namespaces as it is in its bundle, without a catalog, and waits until it runs.
func installBundle(b *testing.B, c client.Client, operator *bundle.Bundle) {
	b.Helper()
	namespace := "operator-" + operator.Package
	steps := must.Value(bundle.Steps(operator, bundle.StepTarget{Namespace: namespace}))(b)
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&v1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all"}},
	}
	for _, o := range steps {
		o.SetOwnerReferences(nil) // the owner has no UID yet, which an InstallPlan would fill in
		objects = append(objects, o)
	}
	for _, o := range objects {
		must.NoErrorf(b, c.Create(b.Context(), o), "create %T %s of bundle %s", o, o.GetName(), operator.Name)
	}
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: operator.CSV.Name}}
	awaitSucceeded(b, c, csv)
	text := must.Value(json.Marshal(csv))(b)
	b.Logf("operator %s: a ClusterServiceVersion of %d kB", csv.Name, len(text)/1000)
}
