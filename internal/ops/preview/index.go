package preview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// description is what a ClusterServiceVersion says for people, in a manifest or in olm.csv.metadata.
type description struct {
	DisplayName  string            `json:"displayName"`
	Description  string            `json:"description"`
	Keywords     []string          `json:"keywords"`
	Annotations  map[string]string `json:"annotations"`
	Provider     v1alpha1.AppLink  `json:"provider"`
	InstallModes []struct {
		Type      string `json:"type"`
		Supported bool   `json:"supported"`
	} `json:"installModes"`
	atLength
}

// atLength is what is shown of one package alone.
type atLength struct {
	Icon           []v1alpha1.Icon                    `json:"icon"`
	Links          []v1alpha1.AppLink                 `json:"links"`
	Maintainers    []v1alpha1.Maintainer              `json:"maintainers"`
	Maturity       string                             `json:"maturity"`
	MinKubeVersion string                             `json:"minKubeVersion"`
	CRDs           v1alpha1.CustomResourceDefinitions `json:"customresourcedefinitions"`
	CRDsOfCatalog  v1alpha1.CustomResourceDefinitions `json:"crdDescriptions"` // as olm.csv.metadata calls them
	APIServices    v1alpha1.APIServiceDefinitions     `json:"apiservicedefinitions"`
}

// OfIndex is what an index offers of a package at a time, nil when it has none of that name.
func OfIndex(name string, x *catalog.Index, pkg string, at time.Time) (*Package, error) {
	info, ok := x.PackageV1(pkg)
	if !ok {
		return nil, nil
	}
	lifecycle, _ := x.Lifecycle(pkg) // what cannot be read says nothing; fairlead catalog validate reports it
	p := &Package{Name: pkg, Catalog: name, DefaultChannel: info.DefaultChannel, Description: firstLine(info.Description), Deprecation: info.Deprecation}
	versions := map[string]*Version{}
	for i, c := range info.Channels {
		channel := Channel{Name: c.Name, Head: c.Newest().Name, Versions: len(c.Entries), Deprecation: c.Deprecation}
		for _, e := range c.Entries {
			v := versions[e.Name]
			if v == nil {
				b := e.Bundle
				v = &Version{Name: e.Name, Version: b.VersionText, Image: b.Image, Deprecation: b.Deprecation,
					Support: lifecycle.Support(b.Version, at), order: b.ReleasedVersion()}
				versions[e.Name] = v
			}
			if slices.Contains(v.Channels, c.Name) {
				continue // the entry is there twice
			}
			v.Channels = append(v.Channels, c.Name)
			if e.Name != channel.Head {
				continue
			}
			channel.Newest = v.Version
			v.HeadOf = append(v.HeadOf, c.Name)
			if i == 0 { // the default channel, if it is served
				if err := p.describe(x, e.Bundle); err != nil {
					return nil, fmt.Errorf("read bundle %s of package %s in catalog %s: %w", e.Name, pkg, name, err)
				}
			}
		}
		p.Channels = append(p.Channels, channel)
	}
	p.arrange(versions)
	return p, nil
}

// describe adopts what the newest version says of itself.
func (p *Package) describe(x *catalog.Index, b *catalog.BundleInfo) error {
	p.Newest, p.Bundle = b.VersionText, b.Name
	for _, gvk := range b.Provides {
		p.Provides = append(p.Provides, fmt.Sprintf("%s (%s/%s)", gvk.Kind, gvk.Group, gvk.Version))
	}
	for _, gvk := range b.Requires {
		p.Requires = append(p.Requires, fmt.Sprintf("%s (%s/%s)", gvk.Kind, gvk.Group, gvk.Version))
	}
	for _, r := range b.RequiredPackages {
		p.Requires = append(p.Requires, fmt.Sprintf("package %s %s", r.PackageName, r.Range))
	}
	if n := len(b.Constraints); n > 0 {
		p.Requires = append(p.Requires, fmt.Sprintf("what %d olm.constraint of the bundle say", n))
	}
	d, err := describing(x, b)
	if err != nil {
		return err
	}
	p.take(d)
	return nil
}

func (p *Package) take(d description) {
	p.DisplayName, p.Provider = d.DisplayName, d.Provider.Name
	for _, keyword := range d.Keywords {
		if strings.TrimSpace(keyword) != "" { // an empty one, which there are, finds everything
			p.Keywords = append(p.Keywords, keyword)
		}
	}
	if text := d.Annotations["description"]; text != "" { // the short one, which consoles show
		p.Description = firstLine(text)
	}
	if p.Description == "" {
		p.Description = firstLine(d.Description)
	}
	p.SuggestedNamespace = SuggestedNamespace(d.Annotations)
	p.Capability = firstLine(d.Annotations["capabilities"])
	for category := range strings.SplitSeq(d.Annotations["categories"], ",") {
		if category = firstLine(category); category != "" && !slices.Contains(p.Categories, category) {
			p.Categories = append(p.Categories, category)
		}
	}
	for _, mode := range d.InstallModes {
		if mode.Supported && !slices.Contains(p.InstallModes, mode.Type) {
			p.InstallModes = append(p.InstallModes, mode.Type)
		}
	}
}

// suggestedNamespaceKey is the annotation by which a ClusterServiceVersion suggests where to install it.
const suggestedNamespaceKey = "operatorframework.io/suggested-namespace"

// SuggestedNamespace is the namespace that the annotations of a ClusterServiceVersion suggest; empty where they suggest none that could exist.
func SuggestedNamespace(annotations map[string]string) string {
	name := annotations[suggestedNamespaceKey]
	if Check("namespace", name) != nil {
		return ""
	}
	return name
}

// describing finds what the ClusterServiceVersion of a bundle says, in olm.csv.metadata or in the manifest.
func describing(x *catalog.Index, b *catalog.BundleInfo) (description, error) {
	var d description
	metadata, err := x.CSVMetadata(b)
	if err != nil {
		return d, err
	}
	if metadata != nil && json.Unmarshal(metadata, &d) == nil {
		return d, nil
	}
	manifests, err := x.Manifests(b)
	for _, manifest := range manifests {
		var csv struct {
			Kind     string
			Metadata struct{ Annotations map[string]string }
			Spec     description
		}
		if json.Unmarshal(manifest, &csv) == nil && csv.Kind == v1alpha1.ClusterServiceVersionKind {
			csv.Spec.Annotations = csv.Metadata.Annotations
			return csv.Spec, nil
		}
	}
	return description{}, err
}
