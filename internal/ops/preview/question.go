package preview

import (
	"cmp"
	"context"
	"net"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Question is what to decide on: what a namespace holds, and what a user adds to that.
type Question struct {
	// Namespace is decided on; empty is the one that the objects are in.
	Namespace string
	// GlobalNamespace holds the catalogs that every namespace sees.
	GlobalNamespace string
	// Kubernetes is the version of the cluster; zero when it is not known.
	Kubernetes semver.Version
	// Objects are those of the cluster, or of files.
	Objects Objects
	// Complete tells that the objects are all that the namespace has.
	Complete bool
	// Secrets reads the pull secrets of CatalogSources, and ConfigMaps with catalogs. Nil leaves secrets out, and ConfigMaps are those of the
	// objects.
	Secrets client.Reader
	// Dial connects to the servers of catalogs, and to registries that are Services of the cluster; nil is for connecting directly.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Catalogs, Installed and Requests are added. A catalog takes the place of the CatalogSource of its name.
	Catalogs  []Catalog
	Installed []Installed
	Requests  []Request
	// Images are the bundles that ClusterExtensions name by their images, by the names of the extensions, as bundleimage has them. Without
	// one it is told what catalogs would have.
	Images map[string]*catalog.Index
	// windows say when upgrades may begin.
	windows windows
	unseen  unseen
	// rivals are the OperatorGroups of the cluster, which may provide the same APIs.
	rivals []*operatorsv1.OperatorGroup
	// Again are the flags that ask the same question once more, for the commands that answers advise.
	Again []string
	// Notes say what could not be checked.
	Notes []string
}

// Preview is what the controllers would decide.
type Preview struct {
	observed *snapshot.Namespace
	input    resolution.NamespaceRequest
	idle     map[string]string // Subscriptions that take no part, with the reason
	result   resolution.NamespaceResult
	// extensions are what the ClusterExtensions resolve to, in the order of their names.
	extensions []*ExtensionResolution
	again      flags
	fit        fitting
	windows    windows
	objects    []olmv1.ClusterExtension
	unseen     unseen
}

// groups are the OperatorGroups that may provide the same APIs: of the cluster, or of files.
func (q *Question) groups() []*operatorsv1.OperatorGroup {
	all := slices.Clone(q.rivals)
	for i := range q.Objects.Groups {
		g := q.Objects.Groups[i].DeepCopy()
		if g.Status.Namespaces = targetsOf(g); !slices.ContainsFunc(all, func(o *operatorsv1.OperatorGroup) bool { return o.Namespace == g.Namespace && o.Name == g.Name }) {
			all = append(all, g)
		}
	}
	return all
}

// Decide reads the catalogs and decides. That there is no answer for some Subscriptions is no error.
func (q *Question) Decide(ctx context.Context, l *Library) (*Preview, error) {
	l.reach(q.Dial)
	found, err := q.Objects.namespace()
	if q.Namespace == "" && err != nil {
		return nil, err
	}
	n, err := q.Objects.view(cmp.Or(q.Namespace, found))
	if err != nil {
		return nil, err
	}
	n.Kubernetes = q.Kubernetes
	if err := q.sources(ctx, l, n); err != nil {
		return nil, err
	}
	// Put what the user says in short into the namespace, as the objects that it stands for: a Subscription is a new one, which takes
	// over what is installed only where one that is created in the cluster would.
	for _, w := range q.Requests {
		// The Subscription that a request stands for.
		ref := q.place(w.Catalog, n)
		if w.Catalog == (catalog.Ref{}) {
			var err error
			if ref, err = catalogOf(w.Package, n); err != nil {
				return nil, err
			}
		}
		sub := newSubscription(n, ref, v1alpha1.SubscriptionSpec{Package: w.Package, Channel: w.Channel, StartingCSV: w.StartingCSV})
		n.Subscriptions = append(n.Subscriptions, *sub)
	}
	for _, i := range q.Installed {
		if err := q.install(i, n); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(n.Operators, func(a, b v1alpha1.ClusterServiceVersion) int { return cmp.Compare(a.Name, b.Name) })
	if err := twice(n.Operators, v1alpha1.ClusterServiceVersionKind, func(c v1alpha1.ClusterServiceVersion) string { return c.Name }); err != nil {
		return nil, err
	}
	p := &Preview{observed: n, again: q.Again, fit: fitting{n, q.Complete, q.groups()}, windows: q.windows, objects: q.Objects.Extensions, unseen: q.unseen.without(q, n)}
	p.input, p.idle = n.Input()
	if p.result, err = resolution.Namespace(ctx, p.input); err != nil {
		return nil, err
	}
	p.extensions, err = q.extensions(ctx, l)
	return p, err
}
