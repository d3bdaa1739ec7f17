package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiversion "k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const good = `{"schema":"olm.package","name":"a","defaultChannel":"stable"}
{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"registry.example.com/a:v1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}`

func tree(content string) fs.FS { return fstest.MapFS{"catalog.json": {Data: []byte(content)}} }

// registry is a reader of images whose content the test decides.
type registry struct {
	content   string // what the image holds now
	err       error
	noCatalog bool
	loads     atomic.Int32
	heads     atomic.Int32
	auth      image.Auth
	slow      chan struct{} // when set, reading waits for it
}

func (r *registry) Digest(context.Context, string, image.Auth) (string, error) {
	r.heads.Add(1)
	return "sha256:" + r.content, r.err
}

func (r *registry) Read(ctx context.Context, _ string, auth image.Auth) (*catalog.Index, string, error) {
	r.loads.Add(1)
	r.auth = auth
	if r.slow != nil {
		select {
		case <-r.slow:
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		}
	}
	if r.err != nil {
		return nil, "", r.err
	}
	if r.noCatalog {
		return nil, "", fmt.Errorf("pull: %w", image.ErrNoCatalog)
	}
	c, err := catalog.Load(ctx, tree(good), catalog.LoadOptions{})
	if err != nil {
		return nil, "", err
	}
	x, err := catalog.NewIndex(c, "sha256:"+r.content)
	return x, "sha256:" + r.content, err
}

type world struct {
	*fakeapi.Server
	t        *testing.T
	client   client.Client // of others
	c        *Controller
	registry *registry
	indexes  *catalogstore.Cache
	versions *fakediscovery.FakeDiscovery
}

// reported is the write of the status.
const reported = "patch status CatalogSource cat"

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	scheme := fakeapi.Scheme(v1alpha1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, rbacv1.AddToScheme, discoveryv1.AddToScheme, metav1.AddMetaToScheme)
	server := fakeapi.New(time.Unix(1_700_000_000, 0), fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.CatalogSource{}).WithReturnManagedFields())
	w := &world{Server: server, t: t, client: server.Inner, registry: &registry{content: "one"}, indexes: must.Value(catalogstore.OpenCache(t.TempDir()))(t)}
	w.c = w.controller()
	t.Cleanup(w.c.links.closeAll)
	return w
}

// refuse lets the writes of statuses fail, or those of anything else.
func (w *world) refuse(statuses bool, err error) {
	w.Before = func(write string) error {
		if (write == reported) == statuses {
			return err
		}
		return nil
	}
}

// controller is one that has just been started.
func (w *world) controller() *Controller {
	c := w.Server
	l := &links{dial: noDial, clock: w.Clock}
	w.versions = &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}, FakedServerVersion: &apiversion.Info{GitVersion: "v1.36.3+fl1"}}
	remotes := addresses{links: l, indexes: w.indexes, secrets: c, clock: w.Clock}
	return &Controller{client: c, catalogs: catalogstore.NewSet(), clock: w.Clock, grace: 10 * time.Second, waiting: make(chan struct{}, workers), links: l, secrets: &secrets{},
		images:     images{reader: w.registry, secrets: c},
		configMaps: configMaps{live: c, client: c, indexes: w.indexes, clock: w.Clock},
		addresses:  remotes,
		pods: &pods{reader: w.registry, secrets: c, server: remotes,
			keeper: &grpccatalog.Keeper{Client: c, Reader: c, FieldOwner: string(fieldOwner), Settings: grpccatalog.Settings{OpmImage: "opm", UtilImage: "util"}}},
		cluster:  clusterVersion(w.versions, w.Clock),
		metrics:  metrics.NewCatalogSources(),
		services: &services{client: c, peers: &peers{reader: c, call: callTCP, clock: w.Clock}, engine: &rollout.Engine{Client: c, FieldManager: string(fieldOwner)}},
	}
}

func noDial(string, []byte) (remote, error) { return nil, errors.New("this test has no servers") }

// serve makes the controller keep Services.
func (w *world) serve() *catalogserver.Set {
	set := &catalogserver.Set{}
	w.c.services.Serving = &Serving{GlobalNamespace: key.Namespace, Global: Place{netip.MustParseAddrPort("192.0.2.7:4711"), set}}
	return set
}

var key = types.NamespacedName{Namespace: "olm", Name: "cat"}

var ref = catalog.Ref{Namespace: key.Namespace, Name: key.Name}

func source(spec v1alpha1.CatalogSourceSpec) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid-of-cat", Generation: 1}, Spec: spec}
}

func grpc(poll time.Duration) v1alpha1.CatalogSourceSpec {
	spec := v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "registry.example.com/cat:latest"}
	if poll > 0 {
		spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: poll}}}
	}
	return spec
}

func (w *world) reconcile() (ctrl.Result, *v1alpha1.CatalogSource) {
	w.t.Helper()
	result, err := w.c.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	if err != nil {
		w.t.Fatalf("Reconcile: %v", err)
	}
	return result, w.source()
}

func (w *world) source() *v1alpha1.CatalogSource {
	w.t.Helper()
	var s v1alpha1.CatalogSource
	if err := w.client.Get(w.t.Context(), key, &s); client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return &s
}

// update changes the spec as a user would.
func (w *world) update(change func(*v1alpha1.CatalogSource)) {
	w.t.Helper()
	s := w.source()
	change(s)
	s.Generation++
	if err := w.client.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.client.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// packages are those that are served for resolution.
func (w *world) packages() []string {
	e, _ := w.c.catalogs.Get(ref)
	if e.Index == nil {
		return nil
	}
	return e.Index.PackageNames()
}

func readyReason(s *v1alpha1.CatalogSource) string {
	for _, c := range s.Status.Conditions {
		if c.Type == reconcile.TypeReady {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}
