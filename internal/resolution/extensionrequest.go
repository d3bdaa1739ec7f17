package resolution

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// UpgradePolicy says which upgrades are allowed.
type UpgradePolicy string

const (
	// CatalogProvided allows the upgrades that the catalog has edges for. It is so when nothing is said.
	CatalogProvided UpgradePolicy = "CatalogProvided"
	// SelfCertified allows to go from any version to any other, older ones included.
	SelfCertified UpgradePolicy = "SelfCertified"
)

// LabelName is the label that each catalog has with its name as the value.
const LabelName = "olm.operatorframework.io/metadata.name"

// ExtensionRequest is all that a decision depends on.
type ExtensionRequest struct {
	// Name is that of the ClusterExtension.
	Name    string
	Package string
	// Version is a range in the grammar of version.Constraint; empty means any version.
	Version string
	// Channels are those that are followed; none means all of the package.
	Channels []string
	// Selector chooses the catalogs; nil means all.
	Selector *metav1.LabelSelector
	Policy   UpgradePolicy
	// Installed is what the extension has installed; nil before the first installation.
	Installed *Installed
	Catalogs  []Catalog
	// Kubernetes is the version of the cluster. Bundles that say they need a newer one are not chosen; the zero version is not known and
	// refuses none.
	Kubernetes semver.Version
	// Others are the other ClusterExtensions that have something installed.
	Others []InstalledExtension
	// RequireAll demands that nothing is chosen while a selected catalog cannot be read, or nothing of the package in it can be used, unless it
	// cannot change the answer.
	RequireAll bool
}

// Installed is a bundle that is installed.
type Installed struct {
	Name    string
	Version version.VersionRelease
	// Properties are those of the bundle. When they are not known, those of a bundle of that name in the catalogs count.
	Properties []catalog.Property
}

// ParseInstalled reads what status.install.bundle says. Without a release, build metadata may be one, as it was written before there
// were releases: it is ordered so, and named as it is written.
func ParseInstalled(name, text string, release *string) (Installed, error) {
	v, err := version.ParseTolerant(text)
	if err != nil {
		return Installed{}, fmt.Errorf("read the version of installed bundle %q: %w", name, err)
	}
	if release == nil {
		return Installed{Name: name, Version: version.VersionRelease{Version: v}}, nil
	}
	r, err := version.ParseRelease(*release)
	if err != nil {
		return Installed{}, fmt.Errorf("read the release of installed bundle %q: %w", name, err)
	}
	return Installed{Name: name, Version: version.VersionRelease{Version: v, Release: r}}, nil
}

// InstalledExtension is another ClusterExtension, and what it has installed.
type InstalledExtension struct {
	Name      string
	Package   string
	Installed Installed
}

// Catalog is a ClusterCatalog.
type Catalog struct {
	// Image is the reference that Index was read by, and what a signature on the catalog is found by; empty for content of another origin.
	Image string
	Name  string
	// Labels are those of the object; LabelName need not be among them.
	Labels   map[string]string
	Priority int
	// Disabled is true when its availabilityMode is Unavailable: it does not take part.
	Disabled bool
	// Index is its content, nil when there is none; Problem says why, and is empty while it is still being loaded.
	Index   *catalog.Index
	Problem string
}

// loading reports whether the content of the catalog may be there in a moment.
func (c *Catalog) loading() bool { return c.Index == nil && c.Problem == "" }

func (c *Catalog) digest() string {
	if c.Index == nil {
		return ""
	}
	return c.Index.Digest()
}

// canonical is the request with its parts in order, each once.
func (r ExtensionRequest) canonical() ExtensionRequest {
	r.Policy = cmp.Or(r.Policy, CatalogProvided)
	r.Channels = slices.Compact(slices.Sorted(slices.Values(r.Channels)))
	r.Catalogs = slices.Clone(r.Catalogs)
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		c.Labels = maps.Clone(c.Labels)
		if c.Labels == nil {
			c.Labels = map[string]string{}
		}
		c.Labels[LabelName] = c.Name
	}
	slices.SortFunc(r.Catalogs, func(a, b Catalog) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Name, b.Name))
	})
	r.Others = slices.DeleteFunc(slices.Clone(r.Others), func(o InstalledExtension) bool { return o.Name != "" && o.Name == r.Name })
	slices.SortFunc(r.Others, func(a, b InstalledExtension) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Installed.Name, b.Installed.Name))
	})
	for i := range r.Others {
		if o := &r.Others[i]; o.Name == "" {
			o.Name = unnamed(o.Package, i)
		}
	}
	return r
}

// unnamed says what is known of an extension that has no name, as in files for offline decisions.
func unnamed(pkg string, i int) string {
	if i == 0 {
		return "(unnamed, of package " + pkg + ")"
	}
	return fmt.Sprintf("(unnamed, of package %s #%d)", pkg, i+1)
}

// maxName is the most that the API takes of a name, in bytes.
const maxName = 253

// StatusName is the name of a bundle as the API takes it, a DNS subdomain: catalogs may have upper-case letters and underscores in theirs, and
// the API server refuses a status that has it otherwise.
func StatusName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	var labels []string
	for label := range strings.SplitSeq(name[:min(len(name), maxName)], ".") {
		if label = strings.Trim(label, "-"); label != "" {
			labels = append(labels, label)
		}
	}
	return cmp.Or(strings.Join(labels, "."), "bundle") // a name of nothing but underscores
}

// Named returns the installed bundle under the name that a catalog has for it, where it is known from a status, which may have another form of
// that name. Edges are found by the names of catalogs.
func (i Installed) Named(pkg string, catalogs []Catalog) Installed {
	found := ""
	for _, c := range catalogs {
		if c.Index == nil {
			continue
		}
		if _, ok := c.Index.BundleV1(pkg, i.Name); ok {
			return i
		}
		if found == "" {
			found = i.nameIn(c.Index, pkg)
		}
	}
	i.Name = cmp.Or(found, i.Name)
	return i
}

// nameIn is the name of the first bundle of a package that has the installed version and the installed name in a status; empty when there is none.
func (i Installed) nameIn(x *catalog.Index, pkg string) string {
	p, ok := x.PackageV1(pkg)
	if !ok {
		return ""
	}
	for _, channel := range p.Channels {
		for _, e := range channel.Entries {
			if StatusName(e.Name) == i.Name && catalog.Released(e.Bundle.Version).Compare(catalog.Released(i.Version)) == 0 {
				return e.Name
			}
		}
	}
	return ""
}
