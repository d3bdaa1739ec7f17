package preview

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"k8s.io/utils/ptr"
)

// OfManifest is what the v0 API says of a package of a CatalogSource, at a time.
func OfManifest(m *packagesv1.PackageManifest, at time.Time) *Package {
	s := &m.Status
	p := &Package{Name: s.PackageName, Catalog: s.CatalogSourceNamespace + "/" + s.CatalogSource, DefaultChannel: s.DefaultChannel,
		Provider: s.Provider.Name, Deprecation: ptr.Deref(s.Deprecation, packagesv1.Deprecation{}).Message}
	if p.Name == "" {
		p.Name = m.Name
	}
	lifecycle := lifecycleOf(s.Lifecycle)
	versions := map[string]*Version{}
	var others []Channel
	for i := range s.Channels {
		c := &s.Channels[i]
		channel := Channel{Name: c.Name, Head: c.CurrentCSV, Newest: c.CurrentCSVDesc.Version.String(), Versions: len(c.Entries), Deprecation: ptr.Deref(c.Deprecation, packagesv1.Deprecation{}).Message}
		for _, e := range c.Entries {
			v := versions[e.Name]
			if v == nil {
				v = &Version{Name: e.Name, Version: e.Version, Deprecation: ptr.Deref(e.Deprecation, packagesv1.Deprecation{}).Message}
				if parsed, err := version.Parse(e.Version); err == nil { // the others come last
					order := version.FromBuild(parsed)
					v.order = &order
				}
				v.Support = lifecycle.Support(v.released(), at)
				versions[e.Name] = v
			}
			v.Channels = append(v.Channels, c.Name)
			if e.Name == c.CurrentCSV {
				v.HeadOf = append(v.HeadOf, c.Name)
			}
		}
		if c.Name != s.DefaultChannel {
			others = append(others, channel)
			continue
		}
		p.Channels = append(p.Channels, channel)
		d := &c.CurrentCSVDesc
		name := c.CurrentCSV
		p.Newest, p.Bundle = d.Version.String(), name
		for _, c := range d.CustomResourceDefinitions.Owned {
			p.Provides = append(p.Provides, fmt.Sprintf("%s (%s)", c.Kind, groupVersion(c.Name, c.Version)))
		}
		for _, c := range d.CustomResourceDefinitions.Required {
			p.Requires = append(p.Requires, fmt.Sprintf("%s (%s)", c.Kind, groupVersion(c.Name, c.Version)))
		}
		said := description{DisplayName: d.DisplayName, Description: d.LongDescription, Keywords: d.Keywords, Annotations: d.Annotations, Provider: d.Provider}
		if said.Provider.Name == "" {
			said.Provider.Name = p.Provider
		}
		p.take(said)
		for _, mode := range d.InstallModes {
			if mode.Supported {
				p.InstallModes = append(p.InstallModes, string(mode.Type))
			}
		}
	}
	p.Channels = append(p.Channels, others...)
	p.arrange(versions)
	return p
}

// lifecycleOf is what a PackageManifest says about support.
func lifecycleOf(written []packagesv1.VersionLifecycle) catalog.Lifecycle {
	var l catalog.Lifecycle
	for _, v := range written {
		out := catalog.LifecycleVersion{Name: v.Version}
		for _, p := range v.Phases {
			out.Phases = append(out.Phases, catalog.LifecyclePhase{Name: p.Name, Start: ptr.Deref(p.Starts, metav1.Time{}).Time, End: ptr.Deref(p.Ends, metav1.Time{}).Time})
		}
		l.Versions = append(l.Versions, out)
	}
	return l
}
