package catalogtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of what the test writes.
const fieldOwner = client.FieldOwner("fairlead-catalog-test")

// Options say what is tested, and where.
type Options struct {
	// Catalog is what is tested, Name what reports call it, and Root the directory of it.
	Catalog    *catalog.Catalog
	Name, Root string
	// Packages are those to test; none is all.
	Packages []string
	// APIs are those to install with; none is both.
	APIs []API
	// Bundles is a directory of bundles, laid out as <package>/<version>, in the place of the images that the catalog names.
	Bundles fs.FS
	// Renderer reads the images of bundles.
	Renderer *bundleio.Renderer
	// Images finds images that do not exist; nil asks no registry.
	Images *ImageChecker

	// Cluster is where the operators are installed. Reach, when set, finds it once it is known what is tested.
	Cluster Cluster
	Reach   func(context.Context) (Cluster, error)
	// Parallel is how many packages are tested at a time; 4 when zero.
	Parallel int
	// Timeout bounds each wait, and Standstill is how long the same reason may last. Zero is 2 minutes, and 10 s where pods are simulated.
	Timeout, Standstill time.Duration
	// Seen, when set, is called with each result as it comes.
	Seen func(Result)
}

// Cluster is a cluster with a manager that runs.
type Cluster struct {
	Config *rest.Config
	// Registry is host:port, with a path where there is one, to which the test pushes what is installed, and Push how.
	Registry string
	Push     image.PushOptions
	// Own says that the cluster is for the test alone.
	Own bool
	// Route lets the calls for a Service end at a server of this process, where pods are simulated; nil where they run.
	Route func(service, server string) (remove func(), err error)
}

// run is a test that is under way.
type run struct {
	Options
	report   *Report
	client   client.Client
	dynamic  dynamic.Interface
	index    *catalog.Index
	checker  *Checker
	contents contents
	needed   map[string]bool
	plans    map[string][]planned // by package
	edges    channels
	catalog  string // the name of the catalogs of the test
	image    string // that of them
	standin  *standin

	mu    sync.Mutex
	walks int
}

// planned is a walk under an API.
type planned struct {
	api  API
	walk Walk
}

// Run tests the packages. What is wrong with them is in the report; an error is that the test could not be made.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &run{Options: o, report: &Report{Catalog: o.Name, Root: o.Root, Began: time.Now()}, plans: map[string][]planned{}, edges: channels{}}
	r.Timeout = cmp.Or(r.Timeout, 2*time.Minute)
	if len(r.APIs) == 0 {
		r.APIs = []API{V0, V1}
	}
	r.Parallel = cmp.Or(r.Parallel, 4)
	for _, step := range []func(context.Context) error{r.choose, r.read, r.plan, r.connect, r.publish, r.walk} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	r.report.Took = time.Since(r.report.Began)
	return r.report, nil
}

// choose settles which packages are tested, and what they need.
func (r *run) choose(context.Context) error {
	all := graph.Packages(r.Catalog)
	for _, pkg := range r.Packages {
		if !slices.Contains(all, pkg) {
			return fmt.Errorf("test package %s: catalog %s has no such package with channels; it has %s", safetext.Quote(pkg), r.Name, safetext.List(all, 10, ", "))
		}
	}
	if len(r.Packages) == 0 {
		r.Packages = all
	}
	r.Packages = unique(r.Packages)
	if len(r.Packages) == 0 {
		return fmt.Errorf("test catalog %s: it has no package with channels", r.Name)
	}
	index, err := catalog.NewIndex(r.Catalog, "")
	if err != nil {
		return fmt.Errorf("test catalog %s: %w", r.Name, err)
	}
	r.index, r.checker, r.needed = index, NewChecker(r.Catalog, index), needs(r.Catalog, index, r.Packages)
	return nil
}

// read reads the bundles.
func (r *run) read(ctx context.Context) (err error) {
	if r.Bundles != nil {
		r.contents, err = readDirectory(r.Catalog, r.Bundles)
	} else {
		r.contents, err = readImages(ctx, r.Catalog, r.index, r.Renderer, r.needed)
	}
	return err
}

// plan finds the walks, and what is known without them.
func (r *run) plan(context.Context) error {
	for _, pkg := range r.Packages {
		for _, api := range r.APIs {
			u, err := graph.UpgradesOf(r.Catalog, pkg, graph.Semantics(api))
			if err != nil {
				return err
			}
			walks, skipped := Walks(u, func(name string) bool { return r.contents.has(pkg, name) })
			for _, w := range walks {
				r.plans[pkg] = append(r.plans[pkg], planned{api, w})
				for i, e := range w.Edges {
					r.edges.of(hopOf(e))
					if i > 0 { // where an upgrade fails the walk continues with an installation
						r.edges.of(hop{pkg, "", e.To})
						r.edges.of(hop{pkg, "", e.From})
					}
				}
			}
			r.seen(append(r.checker.Package(pkg, api), append(r.unreadable(pkg, api), skipped...)...)...)
		}
	}
	return nil
}

// unreadable are the bundles of a package that cannot be read for their own sake.
func (r *run) unreadable(pkg string, api API) []Result {
	var results []Result
	for i := range r.Catalog.Bundles {
		b := &r.Catalog.Bundles[i]
		one := r.contents[named{b.Package, b.Name}]
		if b.Package == pkg && one != nil && one.broken {
			results = append(results, Result{API: api, Edge: Edge{Package: pkg, To: b.Name, Position: b.Position},
				Findings: []Finding{{Rule: NoContent, Message: one.err.Error(), Remedy: help(NoContent).Remedy}}})
		}
	}
	return results
}

// connect makes the clients of the cluster.
func (r *run) connect(ctx context.Context) error {
	if r.Reach != nil {
		var err error
		if r.Cluster, err = r.Reach(ctx); err != nil {
			return err
		}
	}
	if r.Standstill == 0 {
		if r.Standstill = r.Timeout; r.Cluster.Route != nil {
			r.Standstill = 10 * time.Second
		}
	}
	scheme, err := kubeconfig.Scheme()
	if err != nil {
		return err
	}
	config := rest.CopyConfig(r.Cluster.Config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{} // what the API server warns of is not about the upgrade
	if r.client, err = client.New(config, client.Options{Scheme: scheme}); err == nil {
		r.dynamic, err = dynamic.NewForConfig(config)
	}
	if err != nil {
		return fmt.Errorf("connect to the cluster: %w", err)
	}
	// The manager keeps the content of revisions there.
	return r.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manager.DefaultGlobalNamespace}})
}

// publish pushes what is installed, and makes the catalogs of it. On a cluster of others each Subscription has a CatalogSource in its namespace, which no other one sees.
func (r *run) publish(ctx context.Context) error {
	if len(r.edges) == 0 {
		return nil
	}
	images, err := publishBundles(ctx, r.Cluster.Registry, r.Cluster.Push, r.contents, r.needed)
	if err != nil {
		return err
	}
	r.catalog = "catalog-test-" + strings.ToLower(rand.Text()[:6])
	r.image, err = publishCatalog(ctx, r.Cluster.Registry, r.catalog, r.Cluster.Push, published(r.Catalog, r.contents, images, r.needed, r.edges))
	if err != nil {
		return err
	}
	if r.Cluster.Own {
		if _, _, err := ops.AddCatalog(ctx, r.client, ops.CatalogOptions{Namespace: manager.DefaultGlobalNamespace, Name: r.catalog, Image: r.image}); err != nil {
			return err
		}
	}
	if !slices.Contains(r.APIs, V1) {
		return nil
	}
	// Of a low priority: no other extension of the cluster is to choose from it.
	if _, _, err := ops.AddCatalog(ctx, r.client, ops.CatalogOptions{Name: r.catalog, Image: r.image, Priority: lowPriority}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if _, err = ops.WaitCatalog(ctx, r.client, client.ObjectKey{Name: r.catalog}, func(string) {}); err != nil {
		return errors.Join(err, r.withdraw(ctx))
	}
	return nil
}

// lowPriority is that of the ClusterCatalog of the test.
const lowPriority = -1 << 31

// withdraw removes the ClusterCatalog.
func (r *run) withdraw(ctx context.Context) error {
	if r.catalog == "" || !slices.Contains(r.APIs, V1) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortly)
	defer cancel()
	removal, err := ops.FindCatalog(ctx, r.client, string(V1), client.ObjectKey{Name: r.catalog})
	if err == nil {
		err = removal.Remove(ctx, r.client, false)
	}
	return err
}

// seen adds results to the report.
func (r *run) seen(results ...Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, result := range results {
		r.report.Results = append(r.report.Results, result)
		if r.Seen != nil {
			r.Seen(result)
		}
	}
}

// create creates an object that may be there already.
func (r *run) create(ctx context.Context, o client.Object) error {
	if err := r.client.Create(ctx, o, fieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %T %s: %w", o, client.ObjectKeyFromObject(o), err)
	}
	return nil
}

// stays tells whether an object is there and nothing is about to remove it. One of a kind that the cluster does not serve is not there; one whose owners are all
// gone is left to the garbage collector, which may hear of their kind half a minute after it was registered.
func (r *run) stays(ctx context.Context, o object) (bool, error) {
	m := o.metadata()
	there, err := r.has(ctx, m)
	if err != nil || !there || len(m.OwnerReferences) == 0 {
		return there, err
	}
	for _, owner := range m.OwnerReferences {
		live := object{schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind), o.namespace, owner.Name}.metadata()
		if there, err := r.has(ctx, live); err != nil || there && live.UID == owner.UID {
			return true, err
		}
	}
	return false, nil
}

// has reads an object, and tells whether it is there.
func (r *run) has(ctx context.Context, m *metav1.PartialObjectMetadata) (bool, error) {
	err := r.client.Get(ctx, client.ObjectKeyFromObject(m), m)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// uninstall removes an operator as fairlead uninstall does, with those of its CustomResourceDefinitions that it would keep for the sake of custom resources.
func (r *run) uninstall(ctx context.Context, o ops.UninstallOptions, find func(context.Context, client.Reader, ops.UninstallOptions) (*ops.Removal, error)) error {
	removal, err := find(ctx, r.client, o)
	if err != nil {
		return err
	}
	for _, d := range removal.CRDs {
		if d.Instances != 0 && !d.Unseen {
			o.DeleteCRDs = append(o.DeleteCRDs, d.Name)
		}
	}
	if len(o.DeleteCRDs) > 0 {
		if all, err := find(ctx, r.client, o); err == nil { // otherwise one of them has to stay, for another operator
			removal = all
		}
	}
	waiting, cancel := context.WithTimeout(ctx, r.Standstill+collection)
	defer cancel()
	var failed error // once removed is closed
	removed := make(chan struct{})
	go func() {
		defer close(removed)
		failed = removal.Run(waiting, r.client, func(string) {})
	}()
	var goes []object
	for _, ref := range removal.Goes {
		goes = append(goes, object{schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind), ref.Namespace, ref.Name})
	}
	for _, d := range removal.CRDs {
		if d.Goes {
			goes = append(goes, object{schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, "", d.Name})
		}
	}
	for {
		select {
		case <-removed:
			if failed != nil && waiting.Err() != nil && ctx.Err() == nil {
				return &stuckError{fmt.Sprintf("%s is still there (%v)", goes[0], failed)}
			}
			return failed
		case <-time.After(pollInterval):
		}
		for len(goes) > 0 {
			there, err := r.stays(ctx, goes[0])
			if err != nil {
				return fmt.Errorf("look whether %s is gone: %w", goes[0], err)
			}
			if there {
				break
			}
			goes = goes[1:]
		}
		if len(goes) == 0 { // the rest is for the garbage collector
			cancel()
			<-removed
			return nil
		}
	}
}

// collection is how long the garbage collector may take: of a kind that was registered a moment ago it hears after half a minute.
const collection = time.Minute
