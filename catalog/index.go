package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Index answers questions about a catalog. It is immutable and safe for
// concurrent use; nothing it returns may be changed.
type Index struct {
	digest     string
	problems   Problems
	names      []string
	packages   map[string]*PackageInfo
	bundles    map[bundleKey]*BundleInfo
	v1         onlyV1
	payloads   map[bundleKey][]Payload
	providers  map[GVK][]*BundleInfo
	objects    []indexed // in canonical order
	ends       func() ([]int64, error)
	lifecycles func() map[string][]indexed
	file       io.Closer // nil if everything is in memory
}

type bundleKey struct{ pkg, name string }

// NewIndex makes an Index of what is sound in c, which must not be changed
// afterwards, and remembers what is not as Problems: a bundle that cannot be
// used, a channel whose graph does not hold together and a package that is
// ambiguous are left out; everything else is served. digest identifies the
// content that c was loaded from.
func NewIndex(c *Catalog, digest string) (*Index, error) {
	if c == nil {
		return nil, errors.New("index catalog: no catalog was given")
	}
	sorted := canonicalOrder(c)
	objects := make([]indexed, len(sorted))
	for i, o := range sorted {
		objects[i] = indexed{o.name(), memoryLine{o.object}}
	}
	return newIndex(newModel(c), digest, objects), nil
}

func newIndex(m *model, digest string, objects []indexed) *Index {
	x := &Index{
		digest:   digest,
		problems: m.problems,
		packages: map[string]*PackageInfo{},
		bundles:  map[bundleKey]*BundleInfo{},
		v1:       onlyV1{packages: map[string]*PackageInfo{}, bundles: map[bundleKey]*BundleInfo{}},
		payloads: map[bundleKey][]Payload{},
		objects:  objects,
	}
	for _, p := range m.order {
		x.add(p)
	}
	x.prepare()
	return x
}

// prepare makes what follows from packages, bundles and objects.
func (x *Index) prepare() {
	x.names = slices.Sorted(maps.Keys(x.packages))
	if x.v1.names = x.names; len(x.v1.packages) > 0 {
		all := slices.AppendSeq(slices.Clone(x.names), maps.Keys(x.v1.packages))
		slices.Sort(all)
		x.v1.names = slices.Compact(all)
	}
	x.providers, x.v1.providers = providersAmong(x.bundles), providersAmong(x.v1.bundles)
	x.ends = sync.OnceValues(x.findEnds)
	x.lifecycles = sync.OnceValue(x.findLifecycles)
}

// Close gives back what an Index from Open or Build holds open; Manifests,
// CSVMetadata, Objects and Content fail afterwards, everything else still
// works. An Index that is no longer referred to is closed by and by, so who
// does not know whether others still read it can leave it alone.
func (x *Index) Close() error {
	if x.file == nil {
		return nil
	}
	return x.file.Close()
}

// Shared is the same index for another reader, who may close it without an effect on others. It takes hardly any memory: all that is read from it belongs to
// the index that is shared.
func (x *Index) Shared() *Index {
	shared := *x
	shared.file = nil
	return &shared
}

// Digest identifies the content that is indexed.
func (x *Index) Digest() string { return x.digest }

// Problems are the findings of Validate; what they are about may be missing
// from the Index.
func (x *Index) Problems() Problems { return x.problems }

// PackageNames are the names of all packages, sorted.
func (x *Index) PackageNames() []string { return x.names }

// Package finds a package.
func (x *Index) Package(name string) (*PackageInfo, bool) {
	p, ok := x.packages[name]
	return p, ok
}

// Bundle finds a bundle of a package.
func (x *Index) Bundle(pkg, name string) (*BundleInfo, bool) {
	b, ok := x.bundles[bundleKey{pkg, name}]
	return b, ok
}

// Providers are the bundles that provide an API: by package name, then the
// newest version first, then by name.
func (x *Index) Providers(gvk GVK) []*BundleInfo { return x.providers[gvk] }

// Manifests are the manifests that the catalog carries for a bundle, as JSON,
// in the order of the catalog; none when the bundle has only an image.
func (x *Index) Manifests(b *BundleInfo) ([]json.RawMessage, error) {
	var manifests []json.RawMessage
	var unpacker unpacker
	for _, p := range x.payloads[bundleKey{b.Package, b.Name}] {
		if p.Type != PropertyBundleObject {
			continue
		}
		manifest, err := p.manifest(&unpacker)
		if err != nil {
			return nil, fmt.Errorf("read the manifests of bundle %q of package %q in catalog %s: %w", b.Name, b.Package, x.digest, err)
		}
		manifests = append(manifests, manifest)
	}
	return manifests, nil
}

// CSVMetadata is the value of the bundle's olm.csv.metadata property, nil when
// there is none.
func (x *Index) CSVMetadata(b *BundleInfo) (json.RawMessage, error) {
	for _, p := range x.payloads[bundleKey{b.Package, b.Name}] {
		if p.Type != PropertyCSVMetadata {
			continue
		}
		value, err := p.Value()
		if err != nil {
			return nil, fmt.Errorf("read the CSV metadata of bundle %q of package %q in catalog %s: %w", b.Name, b.Package, x.digest, err)
		}
		return value, nil
	}
	return nil, nil
}

// providersAmong lists bundles by what they provide.
func providersAmong(bundles map[bundleKey]*BundleInfo) map[GVK][]*BundleInfo {
	providers := map[GVK][]*BundleInfo{}
	for _, b := range bundles {
		for _, gvk := range b.Provides {
			// One that a bundle lists twice has it as the last provider already.
			if known := providers[gvk]; len(known) == 0 || known[len(known)-1] != b {
				providers[gvk] = append(known, b)
			}
		}
	}
	for _, bundles := range providers {
		slices.SortFunc(bundles, compareProviders)
	}
	return providers
}

func compareProviders(a, b *BundleInfo) int {
	return cmp.Or(
		strings.Compare(a.Package, b.Package),
		b.Version.Compare(a.Version),
		strings.Compare(a.Name, b.Name),
	)
}
