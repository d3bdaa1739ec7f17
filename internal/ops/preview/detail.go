package preview

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Detail is what one catalog says of one package, at length: as the newest version of its default channel describes itself.
type Detail struct {
	*Package
	// Text is the description, in Markdown, as the author wrote it.
	Text        string       `json:"text,omitempty"`
	ProviderURL string       `json:"providerURL,omitempty"`
	Links       []Link       `json:"links,omitempty"`
	Maintainers []Maintainer `json:"maintainers,omitempty"`
	Maturity    string       `json:"maturity,omitempty"`
	// MinKubeVersion is the oldest Kubernetes that it runs on.
	MinKubeVersion string `json:"minKubeVersion,omitempty"`
	// Repository, Supporter, Image and Created are annotations that consoles show.
	Repository string `json:"repository,omitempty"`
	Supporter  string `json:"supporter,omitempty"`
	Image      string `json:"image,omitempty"`
	Created    string `json:"created,omitempty"`
	// Owned are the APIs that it provides, Needed those that it requires.
	Owned  []API `json:"owned,omitempty"`
	Needed []API `json:"needed,omitempty"`
	// Graph is how versions follow on each other; nil where that is not known, which a note says.
	Graph *Graph   `json:"graph,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Link is an address that a package names.
type Link struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Maintainer is who answers for a package.
type Maintainer struct {
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

// API is a kind that a package provides or requires.
type API struct {
	Kind        string `json:"kind"`
	Group       string `json:"group"`
	Version     string `json:"version"`
	DisplayName string `json:"displayName,omitempty"`
	Description string `json:"description,omitempty"`
}

// Icon is the picture of a package, as the catalog has it: nothing of it is to be trusted.
type Icon struct {
	MediaType string
	Data      []byte
}

// maxIcon bounds a decoded picture, in bytes.
const maxIcon = 1 << 20

// GraphChoice is what is drawn of an upgrade graph: of a channel, the default one where it is empty, so many of the newest entries.
type GraphChoice struct {
	Channel string
	Newest  int
}

// IsClusterCatalog reports whether a catalog is one of the v1 API by how it is called: a CatalogSource is NAMESPACE/NAME.
func IsClusterCatalog(catalog string) bool { return !strings.Contains(catalog, "/") }

// Detail reads what a catalog says of a package; nil when it has none of that name.
func (c BrowseCluster) Detail(ctx context.Context, name, pkg string, draw GraphChoice) (*Detail, error) {
	c.Library.reach(c.Dial)
	if !IsClusterCatalog(name) {
		return c.detailV0(ctx, name, pkg, draw)
	}
	x, note, err := c.clusterCatalog(ctx, name, pkg)
	if err != nil {
		return nil, err
	}
	d, err := detailOf(ctx, name, x, pkg, draw)
	if d != nil && note != "" {
		d.Notes = append(d.Notes, note)
	}
	return d, errors.Join(err, x.Close())
}

// clusterCatalog opens the content of a ClusterCatalog.
func (c BrowseCluster) clusterCatalog(ctx context.Context, name, pkg string) (*catalog.Index, string, error) {
	object := &olmv1.ClusterCatalog{}
	if err := c.Reader.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
		return nil, "", fmt.Errorf("read ClusterCatalog %s: %w", name, err)
	}
	x, note, err := c.content(ctx, object, pkg)
	if err != nil {
		return nil, "", fmt.Errorf("read ClusterCatalog %s: %w", name, err)
	}
	return x, note, nil
}

// detailV0 reads the PackageManifest, which every user of the namespace may; and the catalog itself for the upgrade graph, as far as it can be read.
func (c BrowseCluster) detailV0(ctx context.Context, name, pkg string, draw GraphChoice) (*Detail, error) {
	m, err := c.manifest(ctx, name, pkg)
	if m == nil || err != nil {
		return nil, err
	}
	d, err := ofManifestAtLength(m)
	if err != nil {
		return nil, err
	}
	if d.Graph, err = c.graphV0(ctx, name, pkg, draw); err != nil {
		d.Notes = append(d.Notes, "the upgrade graph is not known from here: "+err.Error())
	}
	return d, nil
}

func (c BrowseCluster) graphV0(ctx context.Context, name, pkg string, draw GraphChoice) (*Graph, error) {
	namespace, short, _ := strings.Cut(name, "/")
	source := &v1alpha1.CatalogSource{}
	if err := c.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: short}, source); err != nil {
		return nil, fmt.Errorf("read CatalogSource %s: %w", name, err)
	}
	q := Question{Secrets: c.Reader, Dial: c.Dial}
	x, err := q.content(ctx, c.Library, source)
	if err != nil {
		return nil, fmt.Errorf("read CatalogSource %s: %w", name, err)
	}
	g, err := graphOf(ctx, x, pkg, draw, true)
	return g, errors.Join(err, x.Close())
}

// manifest is the PackageManifest of a package from a CatalogSource; nil when there is none. The name of a package is that of one object, which is
// from another catalog where several have it: then all are listed.
func (c BrowseCluster) manifest(ctx context.Context, name, pkg string) (*packagesv1.PackageManifest, error) {
	from := func(m *packagesv1.PackageManifest) bool {
		return m.Status.CatalogSourceNamespace+"/"+m.Status.CatalogSource == name && cmp.Or(m.Status.PackageName, m.Name) == pkg
	}
	m := &packagesv1.PackageManifest{}
	err := c.Reader.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: pkg}, m)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read PackageManifest %s of namespace %s: %w", pkg, c.Namespace, err)
	}
	if err == nil && from(m) {
		return m, nil
	}
	var list packagesv1.PackageManifestList
	if err := c.Reader.List(ctx, &list, client.InNamespace(c.Namespace)); err != nil {
		return nil, fmt.Errorf("list the PackageManifests of namespace %s: %w", c.Namespace, err)
	}
	for i := range list.Items {
		if from(&list.Items[i]) {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// Icon is the picture of a package; nil when it has none. Of a CatalogSource it is that of the PackageManifest of the name, which is from another catalog
// where several have the package.
func (c BrowseCluster) Icon(ctx context.Context, name, pkg string) (*Icon, error) {
	c.Library.reach(c.Dial)
	if IsClusterCatalog(name) {
		x, _, err := c.clusterCatalog(ctx, name, pkg)
		if err != nil {
			return nil, err
		}
		d, err := newest(x, pkg)
		icon := d.icon(x, pkg)
		return icon, errors.Join(err, x.Close())
	}
	return c.Servers.icon(ctx, c.Namespace, pkg)
}

// ofManifestAtLength is what a PackageManifest says.
func ofManifestAtLength(m *packagesv1.PackageManifest) (*Detail, error) {
	p := OfManifest(m, time.Now())
	var said description
	for i := range m.Status.Channels {
		if c := &m.Status.Channels[i]; c.Name == p.DefaultChannel {
			text, err := json.Marshal(c.CurrentCSVDesc)
			if err == nil {
				err = json.Unmarshal(text, &said)
			}
			if err != nil {
				return nil, fmt.Errorf("read PackageManifest %s: %w", m.Name, err)
			}
		}
	}
	d := &Detail{Package: p}
	d.take(&said)
	return d, nil
}

// detailOf is what an index says of a package.
func detailOf(ctx context.Context, name string, x *catalog.Index, pkg string, draw GraphChoice) (*Detail, error) {
	p, err := OfIndex(name, x, pkg, time.Now())
	if p == nil || err != nil {
		return nil, err
	}
	said, err := newest(x, pkg)
	if err != nil {
		return nil, err
	}
	d := &Detail{Package: p}
	if info, ok := x.PackageV1(pkg); ok && said.Description == "" {
		said.Description = info.Description
	}
	d.take(&said)
	if d.Graph, err = graphOf(ctx, x, pkg, draw, false); err != nil {
		d.Notes = append(d.Notes, "the upgrade graph is not shown: "+err.Error())
	}
	return d, nil
}

// newest is what the version at the head of the default channel of a package says of itself; nothing where that is not served.
func newest(x *catalog.Index, pkg string) (description, error) {
	info, ok := x.PackageV1(pkg)
	if !ok || len(info.Channels) == 0 || info.Channels[0].Name != info.DefaultChannel {
		return description{}, nil
	}
	b := info.Channels[0].Newest().Bundle
	said, err := describing(x, b)
	if err != nil {
		err = fmt.Errorf("read bundle %s of package %s: %w", b.Name, pkg, err)
	}
	return said, err
}

// icon is the picture of a version, or of its package in an index.
func (d description) icon(x *catalog.Index, pkg string) *Icon {
	if len(d.Icon) > 0 && base64.StdEncoding.DecodedLen(len(d.Icon[0].Data)) <= maxIcon {
		if data, err := base64.StdEncoding.DecodeString(d.Icon[0].Data); err == nil && len(data) > 0 {
			return &Icon{d.Icon[0].MediaType, data}
		}
	}
	if info, ok := x.PackageV1(pkg); ok && info.Icon != nil && len(info.Icon.Data) > 0 && len(info.Icon.Data) <= maxIcon {
		return &Icon{info.Icon.MediaType, info.Icon.Data}
	}
	return nil
}

// take adopts what a version says of itself.
func (d *Detail) take(said *description) {
	d.Text, d.ProviderURL, d.Maturity, d.MinKubeVersion = said.Description, said.Provider.URL, said.Maturity, said.MinKubeVersion
	for _, l := range said.Links {
		d.Links = append(d.Links, Link{l.Name, l.URL})
	}
	for _, m := range said.Maintainers {
		d.Maintainers = append(d.Maintainers, Maintainer{m.Name, m.Email})
	}
	for key, to := range map[string]*string{"repository": &d.Repository, "support": &d.Supporter, "containerImage": &d.Image, "createdAt": &d.Created} {
		*to = said.Annotations[key]
	}
	apis := func(crds []v1alpha1.CRDDescription, services []v1alpha1.APIServiceDescription) (all []API) {
		for _, c := range crds {
			_, group, _ := strings.Cut(c.Name, ".")
			all = append(all, API{Kind: c.Kind, Group: group, Version: c.Version, DisplayName: c.DisplayName, Description: c.Description})
		}
		for _, s := range services {
			all = append(all, API{Kind: s.Kind, Group: s.Group, Version: s.Version, DisplayName: s.DisplayName, Description: s.Description})
		}
		return all
	}
	d.Owned = apis(slices.Concat(said.CRDs.Owned, said.CRDsOfCatalog.Owned), said.APIServices.Owned)
	d.Needed = apis(slices.Concat(said.CRDs.Required, said.CRDsOfCatalog.Required), said.APIServices.Required)
}
