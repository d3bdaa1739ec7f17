package preview

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BrowseCluster reads the catalogs of a cluster.
type BrowseCluster struct {
	Reader  client.Reader
	Servers *Servers
	Library *Library
	// Namespace is where packages of the v0 API are checked.
	Namespace string
	// Catalogs limits what is read to the catalogs of these names; none means all.
	Catalogs []string
	// Dial connects to the registry servers of CatalogSources, and to registries that are Services of the cluster; nil is for connecting directly.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// Answer is what catalogs say, and what could not be had.
type Answer struct {
	Packages []*Package
	Notes    []string
	// Catalogs is how many there are, those that could not be read among them; Read is how many were read.
	Catalogs, Read int
	// Elsewhere says which CatalogSources other namespaces have, where this one sees none.
	Elsewhere string

	off int // ClusterCatalogs that are not to be read
}

// V1 reads ClusterCatalogs: all packages, or the one that is named. A catalog that cannot be read is told, and does not hide others.
func (c BrowseCluster) V1(ctx context.Context, pkg string) (Answer, error) {
	var a Answer
	var list olmv1.ClusterCatalogList
	c.Library.reach(c.Dial)
	if err := c.Reader.List(ctx, &list); err != nil {
		if rollout.IsUnknownKind(err) {
			return a, nil
		}
		return a, fmt.Errorf("list the ClusterCatalogs of the cluster: %w", err)
	}
	for i := range list.Items {
		object := &list.Items[i]
		if !c.wanted(object.Name) {
			continue
		}
		a.Catalogs++
		if object.Spec.AvailabilityMode == olmv1.AvailabilityModeUnavailable {
			a.off++
			a.Notes = append(a.Notes, "ClusterCatalog "+object.Name+" is left out: its spec.availabilityMode is Unavailable")
			continue
		}
		before := len(a.Packages)
		x, note, err := c.content(ctx, object, pkg)
		if note != "" {
			a.Notes = append(a.Notes, note)
		}
		if err == nil {
			err = a.add(object.Name, x, pkg)
			for _, p := range a.Packages[before:] {
				p.priority = object.Spec.Priority
			}
			err = errors.Join(err, x.Close())
		}
		if err != nil {
			a.Notes = append(a.Notes, fmt.Sprintf("ClusterCatalog %s is left out: %v", object.Name, err))
			continue
		}
		a.Read++
	}
	return a, nil
}

func (c BrowseCluster) wanted(name string) bool {
	if len(c.Catalogs) == 0 {
		return true
	}
	for _, wanted := range c.Catalogs {
		if wanted == name || strings.HasSuffix(name, "/"+wanted) {
			return true
		}
	}
	return false
}

// content reads a catalog, from where it was kept, from where it is served, or else from its image.
func (c BrowseCluster) content(ctx context.Context, object *olmv1.ClusterCatalog, pkg string) (x *catalog.Index, note string, err error) {
	digest := ""
	if r := object.Status.ResolvedSource; r != nil && r.Image != nil {
		_, digest, _ = strings.Cut(r.Image.Ref, "@")
		if x := c.Library.heldClustered(ctx, object.Name, digest); x != nil {
			return x, "", nil
		}
		if x, ok := c.Library.indexes.Get(ctx, digest); ok {
			return x, "", nil
		}
	}
	served := errors.New("status.urls.base is empty, it is not served")
	if object.Status.URLs != nil {
		if x, served = c.served(ctx, object.Status.URLs.Base, digest, pkg); served == nil {
			return x, "", nil
		}
	}
	if object.Spec.Source.Image == nil {
		return nil, "", served
	}
	x, err = c.Library.Image(ctx, object.Spec.Source.Image.Ref, image.Auth{})
	if err != nil {
		return nil, "", fmt.Errorf("%w; nor could it be read from its image: %w", served, err)
	}
	return x, fmt.Sprintf("ClusterCatalog %s is read from its image: %v", object.Name, served), nil
}

func (c BrowseCluster) served(ctx context.Context, base, digest, pkg string) (*catalog.Index, error) {
	if pkg != "" {
		x, err := c.Servers.Catalog(ctx, base, pkg)
		var answer *answerError
		if err == nil || !errors.As(err, &answer) || answer.status != http.StatusNotFound {
			return x, err
		}
		// Servers of other implementations have no metas unless they are told to.
	}
	_, x, err := catalogstore.FromServer(ctx, c.Library.indexes, whole{c.Servers, base, digest}, base, func(string) bool { return false }, catalogstore.CheckImageV1)
	return x, err
}

// V0 reads the packages that the v0 API shows in the namespace.
func (c BrowseCluster) V0(ctx context.Context, pkg string) (Answer, error) {
	a, _, err := c.manifests(ctx, pkg)
	if rollout.IsUnknownKind(err) {
		return a, nil
	}
	if err == nil && a.Catalogs == 0 {
		a.Elsewhere = snapshot.Elsewhere(ctx, c.Reader, c.Namespace)
	}
	return a, err
}

// manifests reads the PackageManifests of the namespace, and returns which catalogs have some.
func (c BrowseCluster) manifests(ctx context.Context, pkg string) (Answer, map[string]bool, error) {
	var a Answer
	var list packagesv1.PackageManifestList
	if err := c.Reader.List(ctx, &list, client.InNamespace(c.Namespace)); err != nil {
		return a, nil, fmt.Errorf("list the PackageManifests of namespace %s: %w", c.Namespace, err)
	}
	catalogs := map[string]bool{}
	for i := range list.Items {
		p := OfManifest(&list.Items[i], time.Now())
		if !c.wanted(p.Catalog) {
			continue
		}
		catalogs[p.Catalog] = true
		if pkg == "" || p.Name == pkg {
			a.Packages = append(a.Packages, p)
		}
	}
	a.Catalogs, a.Read = len(catalogs), len(catalogs)
	return a, catalogs, nil
}

// Both reads the catalogs of both APIs. What one of them cannot tell is noted, unless the other has nothing to tell either; but a user who may not see the
// ClusterCatalogs sees all there is for them.
func (c BrowseCluster) Both(ctx context.Context, pkg string) (Answer, error) {
	a, failed := c.V1(ctx, pkg)
	v0, err := c.V0(ctx, pkg)
	a.Packages, a.Notes, a.Elsewhere = append(a.Packages, v0.Packages...), append(a.Notes, v0.Notes...), v0.Elsewhere
	a.Catalogs, a.Read = a.Catalogs+v0.Catalogs, a.Read+v0.Read
	both := errors.Join(failed, err)
	switch {
	case both == nil:
	case err == nil && apierrors.IsForbidden(failed):
		a.Notes = append(a.Notes, messages.Unseen(failed, "ClusterCatalogs", "packages come from PackageManifests"))
	case a.Read == 0:
		return a, both
	default:
		a.Notes = append(a.Notes, both.Error())
	}
	return a, nil
}

// Offline reads a catalog of a directory or an image.
func (a *Answer) Offline(ctx context.Context, l *Library, name, source, pkg string) error {
	x, err := l.Read(ctx, source)
	if err != nil {
		return fmt.Errorf("read catalog %s: %w", source, err)
	}
	a.Catalogs++
	a.Read++
	return errors.Join(a.add(name, x, pkg), x.Close())
}

func (a *Answer) add(name string, x *catalog.Index, pkg string) error {
	names := x.PackageNamesV1()
	if pkg != "" {
		names = []string{pkg}
	}
	for _, n := range names {
		p, err := OfIndex(name, x, n, time.Now())
		if err != nil {
			return err
		}
		if p != nil {
			a.Packages = append(a.Packages, p)
		}
	}
	return nil
}
