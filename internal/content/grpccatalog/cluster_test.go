package grpccatalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { devcluster.Main(m) }

// patience is how long a test waits for something that takes well under a second on an idle machine.
const patience = 60 * time.Second

// cluster is a namespace of the embedded cluster, with a catalog in it and a Keeper.
type cluster struct {
	client.Client
	*Keeper
	t      *testing.T
	writes atomic.Int64
	reads  atomic.Int64
	source *v1alpha1.CatalogSource
}

// newCluster makes a catalog. Managers of other tests may work on the same cluster, so that what it holds is a CatalogSource that is
// being deleted, which they let be, and which the garbage collector respects as an owner until it is gone. The tests pass the spec
// that they are about to the Keeper themselves.
func newCluster(t *testing.T, name string) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	c := &cluster{t: t}
	var err error
	if c.Client, err = client.NewWithWatch(devcluster.Config(), client.Options{Scheme: testScheme(t)}); err != nil {
		t.Fatal(err)
	}
	must.NoErrorf(t, installed(), "install the CustomResourceDefinition of CatalogSources")
	c.source = grpcSource()
	c.source.Namespace, c.source.Name, c.source.UID = devcluster.Namespace(t), name, ""
	stored := c.source.DeepCopy()
	stored.Finalizers = []string{"test.fairlead.dev/keep"}
	c.eventually("create the CatalogSource", func() error { return c.Create(t.Context(), stored) })
	t.Cleanup(func() {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		must.NoError(t, c.Client.Patch(context.Background(), stored, patch))
	})
	must.NoError(t, c.Client.Delete(t.Context(), stored))
	c.source.UID, c.source.CreationTimestamp = stored.UID, stored.CreationTimestamp
	config := devcluster.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &counter{next: next, writes: &c.writes, reads: &c.reads}
	})
	counted := must.Value(client.New(config, client.Options{Scheme: testScheme(t)}))(t)
	c.Keeper = &Keeper{Client: counted, Reader: counted, FieldOwner: "fairlead-test", Settings: defaults().Settings}
	return c
}

// counter counts the requests that write and those that read.
type counter struct {
	next          http.RoundTripper
	writes, reads *atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		c.reads.Add(1)
	} else {
		c.writes.Add(1)
	}
	return c.next.RoundTrip(r)
}

func testScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)))
	return scheme
}

// installed defines CatalogSources once for all tests of the package, if nobody has yet.
var installed = sync.OnceValue(func() error {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return err
	}
	c, err := client.New(devcluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	all, err := crds.All()
	if err != nil {
		return err
	}
	for _, crd := range all {
		if crd.Spec.Names.Kind != kindCatalogSource {
			continue
		}
		if err := c.Create(context.Background(), crd); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
})

// eventually repeats what may be too early, such as the use of a kind that was only just defined.
func (c *cluster) eventually(what string, do func() error) {
	c.t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = do(); err == nil {
			return
		}
	}
	c.t.Fatalf("%s: %v", what, err)
}

// request is for the catalog as it is wanted, without a poll, at a time when no pod is young any more.
func (c *cluster) request() Request {
	return Request{Source: c.source, Now: time.Now().Add(time.Hour)}
}

func (c *cluster) ensure() Outcome {
	c.t.Helper()
	out := must.Value(c.Ensure(c.t.Context(), c.request()))(c.t)
	return out
}

// settled ensures until the pod answers, and returns what is then said.
func (c *cluster) settled() Outcome {
	c.t.Helper()
	var out Outcome
	c.eventually("wait for the catalog to be as wanted", func() error {
		var err error
		if out, err = c.Ensure(c.t.Context(), c.request()); err != nil {
			return err
		}
		if !out.Ready || out.Waiting != "" || len(out.Changes) > 0 {
			return fmt.Errorf("ready %t, waiting %q, changes %q", out.Ready, out.Waiting, out.Changes)
		}
		return nil
	})
	return out
}

// quiet fails when there is anything left to write.
func (c *cluster) quiet() {
	c.t.Helper()
	before := c.writes.Load()
	out := c.ensure()
	if n := c.writes.Load() - before; n > 0 || len(out.Changes) > 0 {
		c.t.Errorf("nothing had changed, and %d writes were made: %q", n, out.Changes)
	}
}

func (c *cluster) get(o client.Object, name string) {
	c.t.Helper()
	must.NoError(c.t, c.Get(c.t.Context(), client.ObjectKey{Namespace: c.source.Namespace, Name: name}, o))
}

// livePods are the pods of the catalog that are not being deleted.
func (c *cluster) livePods() []corev1.Pod {
	c.t.Helper()
	var list corev1.PodList
	must.NoError(c.t, c.List(c.t.Context(), &list, client.InNamespace(c.source.Namespace)))
	var live []corev1.Pod
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			live = append(live, p)
		}
	}
	return live
}

// unscheduled keeps the simulated nodes from running the pods, so that the test decides what becomes of them.
func (c *cluster) unscheduled() {
	c.source.Spec.GrpcPodConfig = &v1alpha1.GrpcPodConfig{NodeSelector: map[string]string{"no": "node"}}
}

// become sets the status of a pod.
func (c *cluster) become(name string, changes ...change) {
	c.t.Helper()
	p := &corev1.Pod{}
	c.get(p, name)
	before := p.DeepCopy()
	p.Status.Phase = corev1.PodRunning
	for _, change := range changes {
		change(p)
	}
	must.NoError(c.t, c.Client.Status().Patch(c.t.Context(), p, client.MergeFrom(before)))
}
