package packageserver

import (
	"cmp"
	"context"
	"maps"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Cluster is what has to be known of a cluster to say who sees what.
type Cluster interface {
	// CatalogSources are all that are looked after. They must not be changed.
	CatalogSources(ctx context.Context) ([]v1alpha1.CatalogSource, error)
	// WithoutGlobal are the namespaces that do without the catalogs of the global namespace; every value is true.
	WithoutGlobal(ctx context.Context) (map[string]bool, error)
}

// Contents are the catalogs that are being served.
type Contents interface {
	Get(ref catalog.Ref) (catalogstore.Entry, bool)
}

// offer is a package of one catalog, as seen from a namespace.
type offer struct {
	namespace string // that it is shown in
	source    *source
	doc       *document
}

// compare is the order of lists: by namespace and name, like those of the API server. Of packages with the same name, those of catalogs
// of the namespace itself come before global ones, then those of catalogs with higher priority, then by the name of the catalog.
func (o *offer) compare(p *offer) int {
	global := func(o *offer) int {
		if o.source.Namespace == o.namespace {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(o.namespace, p.namespace), cmp.Compare(o.doc.name, p.doc.name), cmp.Compare(global(o), global(p)),
		cmp.Compare(p.source.Spec.Priority, o.source.Spec.Priority), cmp.Compare(o.source.Name, p.source.Name))
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

// whole is the object with all that is said of the package.
func (o *offer) whole(revision string) (*packagesv1.PackageManifest, error) {
	status, err := o.status()
	if err != nil {
		return nil, err
	}
	return &packagesv1.PackageManifest{TypeMeta: typeMeta(packagesv1.PackageManifestKind), ObjectMeta: o.meta(revision), Status: status}, nil
}
