package packageserver

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogset"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster is what has to be known of a cluster to say who sees what.
type Cluster interface {
	// CatalogSources are those of a namespace, or of all namespaces when it is empty.
	CatalogSources(ctx context.Context, namespace string) ([]v1alpha1.CatalogSource, error)
	// ExcludesGlobal tells whether a namespace does without the catalogs of the global namespace.
	ExcludesGlobal(ctx context.Context, namespace string) (bool, error)
}

// Contents are the catalogs that are being served.
type Contents interface {
	Get(ref catalogset.Ref) (catalogset.Entry, bool)
	Digests() []string
}

// view answers who sees which packages.
type view struct {
	cluster  Cluster
	contents Contents
	global   string
	docs     *documents
}

// offer is a package of one catalog, as seen from a namespace.
type offer struct {
	namespace string // that it is shown in
	source    *v1alpha1.CatalogSource
	index     *catalog.Index
	doc       *document
}

// rank orders offers of packages of the same name in the same namespace.
func (o *offer) rank(p *offer) int {
	own := func(o *offer) int {
		if o.source.Namespace == o.namespace {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(own(o), own(p)), cmp.Compare(p.source.Spec.Priority, o.source.Spec.Priority), cmp.Compare(o.source.Name, p.source.Name))
}

// compare is the order of lists: by namespace and name, like those of the API server. Of packages with the same name, those of catalogs
// of the namespace itself come before global ones, then those of catalogs with higher priority, then by the name of the catalog.
func (o *offer) compare(p *offer) int {
	return cmp.Or(cmp.Compare(o.namespace, p.namespace), cmp.Compare(o.doc.name, p.doc.name), o.rank(p))
}

// sources are the catalogs that a namespace sees: its own and, unless it does without, the global ones. No namespace sees all.
func (v *view) sources(ctx context.Context, namespace string) ([]v1alpha1.CatalogSource, error) {
	own, err := v.cluster.CatalogSources(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("list the CatalogSources of namespace %q: %w", namespace, err)
	}
	if namespace == "" || namespace == v.global {
		return own, nil
	}
	excludes, err := v.cluster.ExcludesGlobal(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("find out whether namespace %q sees global catalogs: %w", namespace, err)
	}
	if excludes {
		return own, nil
	}
	global, err := v.cluster.CatalogSources(ctx, v.global)
	if err != nil {
		return nil, fmt.Errorf("list the CatalogSources of namespace %q: %w", v.global, err)
	}
	return slices.Concat(own, global), nil
}

// offers are the packages that a namespace sees, in order.
func (v *view) offers(ctx context.Context, namespace string) ([]offer, error) {
	sources, err := v.sources(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var all []offer
	for i := range sources {
		index := v.index(&sources[i])
		if index == nil {
			continue
		}
		docs, err := v.docs.of(index)
		if err != nil {
			return nil, err
		}
		shown := cmp.Or(namespace, sources[i].Namespace)
		for _, d := range docs {
			all = append(all, offer{namespace: shown, source: &sources[i], index: index, doc: d})
		}
	}
	slices.SortFunc(all, func(a, b offer) int { return a.compare(&b) })
	return all, nil
}

// index is the content of a catalog, nil when there never was any.
func (v *view) index(source *v1alpha1.CatalogSource) *catalog.Index {
	entry, ok := v.contents.Get(catalogset.Ref{Namespace: source.Namespace, Name: source.Name})
	if !ok {
		return nil
	}
	return entry.Index
}

// meta is the metadata of an offer; revision says when anything that is shown changed last.
func (o *offer) meta(revision string) metav1.ObjectMeta {
	labels := maps.Clone(o.source.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, o.doc.labels)
	labels[v1alpha1.PackageCatalogLabel] = o.source.Name
	labels[v1alpha1.PackageCatalogNamespaceLabel] = o.source.Namespace
	return metav1.ObjectMeta{
		Name: o.doc.name, Namespace: o.namespace, Labels: labels,
		CreationTimestamp: o.source.CreationTimestamp, ResourceVersion: revision,
	}
}

// named fills in the names of the catalog.
func (o *offer) named(status packagesv1.PackageManifestStatus) packagesv1.PackageManifestStatus {
	status.CatalogSource, status.CatalogSourceNamespace = o.source.Name, o.source.Namespace
	status.CatalogSourceDisplayName, status.CatalogSourcePublisher = o.source.Spec.DisplayName, o.source.Spec.Publisher
	return status
}

// whole is the object with all that is said of the package.
func (o *offer) whole(revision string) (*packagesv1.PackageManifest, error) {
	status, err := o.doc.status(o.index)
	if err != nil {
		return nil, err
	}
	return &packagesv1.PackageManifest{TypeMeta: typeMeta(packagesv1.PackageManifestKind), ObjectMeta: o.meta(revision), Status: o.named(status)}, nil
}
