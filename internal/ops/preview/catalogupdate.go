package preview

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/diff"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CatalogUpdate is what another image of a catalog would change.
type CatalogUpdate struct {
	// Image is what was read, and Digest what it is now; Serves is the digest of what the catalog has served.
	Image  string `json:"image"`
	Digest string `json:"digest"`
	Serves string `json:"serves,omitempty"`
	// Same is true where both are one content: nothing changes.
	Same bool `json:"same,omitempty"`
	// Content is what differs.
	Content *diff.Report `json:"content,omitempty"`
	// Effects are what it means for what is installed here, and Unaffected is for how many Subscriptions and ClusterExtensions it means nothing.
	Effects    []CatalogEffect `json:"effects"`
	Unaffected int             `json:"unaffected"`
	Notes      []string        `json:"notes,omitempty"`
}

// CatalogUpdater tells what another image of a catalog of a cluster would change. It reads as a user.
type CatalogUpdater struct {
	Cluster
	Library *Library
	// GlobalNamespace has the catalogs that all namespaces see.
	GlobalNamespace string
	Dial            func(ctx context.Context, address string) (net.Conn, error)
}

// maxDifferent bounds the content of packages that differ and are compared in full, in bytes.
const maxDifferent = 64 << 20

// Update compares a CatalogSource or ClusterCatalog, which serves what has a digest, with an image: an empty one is the one that it names, as its tag is now.
func (u CatalogUpdater) Update(ctx context.Context, object client.Object, serves, ref string) (_ *CatalogUpdate, err error) {
	u.Library.reach(u.Dial)
	named, auth, err := u.named(ctx, object)
	if err != nil {
		return nil, err
	}
	if ref == "" {
		ref = named
	}
	if ref == "" {
		return nil, errors.New("the catalog is read from no image: name the image to compare it with")
	}
	out := &CatalogUpdate{Image: ref, Serves: serves, Effects: []CatalogEffect{}}
	now, err := u.Library.Image(ctx, ref, auth)
	if err != nil {
		return nil, fmt.Errorf("read image %s: %w", ref, err)
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	if out.Digest = now.Digest(); out.Digest == serves {
		out.Same = true
		return out, nil
	}
	old, err := u.served(ctx, object, named, serves, auth)
	if err != nil {
		out.Notes = append(out.Notes, "what the catalog serves now cannot be read, so that the contents are not compared: "+err.Error())
	} else {
		defer func() { err = errors.Join(err, old.Close()) }()
		if out.Same = old.Digest() == out.Digest; out.Same {
			return out, nil
		}
		if err := out.compare(ctx, old, now); err != nil {
			return nil, err
		}
	}
	return out, u.effects(ctx, object, old, now, out)
}

// named is the image of a catalog, and how to pull it.
func (u CatalogUpdater) named(ctx context.Context, object client.Object) (ref string, auth image.Auth, err error) {
	switch o := object.(type) {
	case *v1alpha1.CatalogSource:
		auth, err = bundleio.PullSecrets(ctx, u.Reader, o.Namespace, o.Spec.Secrets)
		return o.Spec.Image, auth, err
	case *olmv1.ClusterCatalog:
		if o.Spec.Source.Image != nil {
			ref = o.Spec.Source.Image.Ref
		}
	}
	return ref, auth, nil
}

// served is the content that the catalog serves: that of the digest, whatever its tag is now.
func (u CatalogUpdater) served(ctx context.Context, object client.Object, named, serves string, auth image.Auth) (*catalog.Index, error) {
	if named == "" || serves == "" {
		return u.Library.open(ctx, u.Reader, u.Dial, object)
	}
	return u.Library.Image(ctx, repository(named)+"@"+serves, auth)
}

// repository is a reference without its tag and its digest.
func repository(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		ref = ref[:colon]
	}
	return ref
}

// compare adds what differs between two contents. Only packages that differ are read as a whole.
func (out *CatalogUpdate) compare(ctx context.Context, old, now *catalog.Index) error {
	var differ []string
	size := int64(0)
	for _, name := range packagesOf(old, now) {
		before, err := fingerprintOf(ctx, old, name)
		if err != nil {
			return fmt.Errorf("read the content that is served: %w", err)
		}
		after, err := fingerprintOf(ctx, now, name)
		if err != nil {
			return fmt.Errorf("read the content of %s: %w", out.Image, err)
		}
		if before.sum != after.sum {
			differ = append(differ, name)
			size += before.size + after.size
		}
	}
	if size > maxDifferent {
		out.Notes = append(out.Notes, fmt.Sprintf("the contents of %d packages differ, which is too much to be compared here: fairlead catalog diff OLD NEW does it", len(differ)))
		return nil
	}
	a, err := only(ctx, old, differ)
	if err != nil {
		return err
	}
	b, err := only(ctx, now, differ)
	if err != nil {
		return err
	}
	if out.Content, err = diff.Compare(a, b); err != nil {
		return fmt.Errorf("compare the content that is served with that of %s: %w", out.Image, err)
	}
	return nil
}

// packagesOf are the packages of both, by name.
func packagesOf(all ...*catalog.Index) []string {
	var names []string
	for _, x := range all {
		names = slices.Concat(names, x.PackageNames(), x.PackageNamesV1())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// objectsOf are the objects of a package.
func objectsOf(x *catalog.Index, pkg string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, filter := range []catalog.ObjectFilter{{Schema: catalog.SchemaPackage, Name: pkg}, {Package: pkg}} {
			for line, err := range x.Objects(filter) {
				if !yield(line, err) {
					return
				}
			}
		}
	}
}

// fingerprint identifies the objects of a package.
type fingerprint struct {
	sum  string
	size int64
}

func fingerprintOf(ctx context.Context, x *catalog.Index, pkg string) (f fingerprint, err error) {
	sum := sha256.New()
	for line, err := range objectsOf(x, pkg) {
		if err := cmp.Or(err, context.Cause(ctx)); err != nil {
			return f, err
		}
		fmt.Fprintf(sum, "%d ", len(line))
		sum.Write(line)
		f.size += int64(len(line))
	}
	f.sum = string(sum.Sum(nil))
	return f, nil
}

// only is the part of a catalog with some packages.
func only(ctx context.Context, x *catalog.Index, packages []string) (*catalog.Catalog, error) {
	var content bytes.Buffer
	for _, pkg := range packages {
		for line, err := range objectsOf(x, pkg) {
			if err != nil {
				return nil, fmt.Errorf("read package %s of a catalog: %w", pkg, err)
			}
			content.Write(line)
			content.WriteByte('\n')
		}
	}
	if content.Len() == 0 {
		return &catalog.Catalog{}, nil
	}
	c, err := catalog.LoadFile(ctx, "catalog.json", &content, catalog.LoadOptions{})
	if wrong := (*catalog.InvalidError)(nil); err != nil && !errors.As(err, &wrong) { // what breaks rules is compared all the same
		return nil, fmt.Errorf("read packages of a catalog: %w", err)
	}
	return c, nil
}
