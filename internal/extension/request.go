package extension

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Policy says which upgrades are allowed.
type Policy string

const (
	// CatalogProvided allows the upgrades that the catalog has edges for. It is so when nothing is said.
	CatalogProvided Policy = "CatalogProvided"
	// SelfCertified allows to go from any version to any other, older ones included.
	SelfCertified Policy = "SelfCertified"
)

// LabelName is the label that each catalog has with its name as the value.
const LabelName = "olm.operatorframework.io/metadata.name"

// Request is all that a decision depends on.
type Request struct {
	// Name is that of the ClusterExtension.
	Name    string
	Package string
	// Version is a range in the grammar of version.Constraint; empty means any version.
	Version string
	// Channels are those that are followed; none means all of the package.
	Channels []string
	// Selector chooses the catalogs; nil means all.
	Selector *metav1.LabelSelector
	Policy   Policy
	// Installed is what the extension has installed; nil before the first installation.
	Installed *Installed
	Catalogs  []Catalog
	// Kubernetes is the version of the cluster. Bundles that say they need a newer one are not chosen; the zero version is not known and
	// refuses none.
	Kubernetes semver.Version
	// Others are the other ClusterExtensions that have something installed.
	Others []Extension
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

// Extension is another ClusterExtension, and what it has installed.
type Extension struct {
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

func (c *Catalog) problem() string { return cmp.Or(c.Problem, "it is still being loaded") }

// loading reports whether the content of the catalog may be there in a moment.
func (c *Catalog) loading() bool { return c.Index == nil && c.Problem == "" }

func (c *Catalog) digest() string {
	if c.Index == nil {
		return ""
	}
	return c.Index.Digest()
}

// canonical is the request with its parts in order, each once.
func (r Request) canonical() Request {
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
	r.Others = slices.DeleteFunc(slices.Clone(r.Others), func(o Extension) bool { return o.Name != "" && o.Name == r.Name })
	slices.SortFunc(r.Others, func(a, b Extension) int {
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
