package packageserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/catalog"

	"github.com/blang/semver/v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// operator is what a catalog says about a bundle.
type operator struct {
	labels      map[string]string
	icons       []v1alpha1.Icon
	description packagesv1.CSVDescription // without icons
}

// unreadVersion is the error of what the index says it has and cannot give: it may be able to later.
type unreadVersion struct{ error }

// Unwrap returns the cause.
func (u unreadVersion) Unwrap() error { return u.error }

// errNothingSaid is the error of a bundle that only its image describes.
var errNothingSaid = errors.New("the catalog holds no description of it")

// describeVersion reads what the catalog holds of the head of a channel: its ClusterServiceVersion where there is one, what was taken from it
// otherwise.
func describeVersion(x *catalog.Index, p *catalog.PackageInfo, c *catalog.ChannelInfo) (*operator, error) {
	head, ok := c.Entry(c.Head)
	if !ok {
		return nil, fmt.Errorf("channel %s of package %s has no entry %s", c.Name, p.Name, c.Head)
	}
	o, err := read(x, head.Bundle)
	if err != nil {
		return nil, fmt.Errorf("describe bundle %s of package %s: %w", c.Head, p.Name, err)
	}
	if o.description.LongDescription == "" {
		o.description.LongDescription = p.Description
	}
	if len(o.icons) == 0 && p.Icon != nil {
		o.icons = []v1alpha1.Icon{{Data: base64.StdEncoding.EncodeToString(p.Icon.Data), MediaType: p.Icon.MediaType}}
	}
	return o, nil
}

func read(x *catalog.Index, b *catalog.BundleInfo) (*operator, error) {
	manifests, err := x.Manifests(b)
	if err != nil {
		return nil, unreadVersion{err}
	}
	for _, m := range manifests {
		if o, err := fromCSV(m); o != nil || err != nil {
			return o, err
		}
	}
	metadata, err := x.CSVMetadata(b)
	if err != nil {
		return nil, unreadVersion{err}
	}
	if metadata == nil {
		return nil, errNothingSaid
	}
	return fromMetadata(metadata, b)
}

// csv is the part of a ClusterServiceVersion that is shown.
type csv struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		describedVersion
		Version                   v1alpha1.OperatorVersion           `json:"version"`
		Icon                      []v1alpha1.Icon                    `json:"icon"`
		CustomResourceDefinitions v1alpha1.CustomResourceDefinitions `json:"customresourcedefinitions"`
		APIServiceDefinitions     v1alpha1.APIServiceDefinitions     `json:"apiservicedefinitions"`
		RelatedImages             []v1alpha1.RelatedImage            `json:"relatedImages"`
		Install                   struct {
			Spec struct {
				Deployments []deployment `json:"deployments"`
			} `json:"spec"`
		} `json:"install"`
	} `json:"spec"`
}

// deployment is as much of a Deployment as names images.
type deployment struct {
	Spec struct {
		Template struct {
			Spec struct {
				InitContainers []container `json:"initContainers"`
				Containers     []container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type container struct {
	Image string `json:"image"`
}

// describedVersion is what a ClusterServiceVersion and what catalogs keep of it have in common.
type describedVersion struct {
	DisplayName    string                    `json:"displayName"`
	Description    string                    `json:"description"`
	Provider       v1alpha1.AppLink          `json:"provider"`
	Keywords       []string                  `json:"keywords"`
	Links          []v1alpha1.AppLink        `json:"links"`
	Maintainers    []v1alpha1.Maintainer     `json:"maintainers"`
	Maturity       string                    `json:"maturity"`
	InstallModes   []v1alpha1.InstallMode    `json:"installModes"`
	NativeAPIs     []metav1.GroupVersionKind `json:"nativeAPIs"`
	MinKubeVersion string                    `json:"minKubeVersion"`
}

func (d describedVersion) description() packagesv1.CSVDescription {
	return packagesv1.CSVDescription{
		DisplayName: d.DisplayName, LongDescription: d.Description, Provider: d.Provider,
		Keywords: d.Keywords, Links: d.Links, Maintainers: d.Maintainers, Maturity: d.Maturity,
		InstallModes: d.InstallModes, NativeAPIs: d.NativeAPIs, MinKubeVersion: d.MinKubeVersion,
	}
}

// fromCSV is nil for manifests of other kinds.
func fromCSV(manifest json.RawMessage) (*operator, error) {
	if !bytes.Contains(manifest, []byte(v1alpha1.ClusterServiceVersionKind)) {
		return nil, nil
	}
	var kind struct {
		Kind string `json:"kind"`
	}
	if json.Unmarshal(manifest, &kind) != nil || kind.Kind != v1alpha1.ClusterServiceVersionKind {
		return nil, nil
	}
	var c csv
	if err := json.Unmarshal(manifest, &c); err != nil {
		return nil, fmt.Errorf("read its %s: %w", v1alpha1.ClusterServiceVersionKind, err)
	}
	o := &operator{labels: c.Metadata.Labels, icons: c.Spec.Icon, description: c.Spec.description()}
	d := &o.description
	d.Annotations, d.Version = c.Metadata.Annotations, c.Spec.Version
	d.CustomResourceDefinitions, d.APIServiceDefinitions = c.Spec.CustomResourceDefinitions, c.Spec.APIServiceDefinitions
	var images []string
	for _, i := range c.Spec.RelatedImages {
		images = append(images, i.Image)
	}
	for _, deployment := range c.Spec.Install.Spec.Deployments {
		pod := deployment.Spec.Template.Spec
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			images = append(images, c.Image)
		}
	}
	d.RelatedImages = distinct(images)
	return o, nil
}

// metadata is the value of an olm.csv.metadata property.
type metadata struct {
	describedVersion
	Annotations           map[string]string                  `json:"annotations"`
	Labels                map[string]string                  `json:"labels"`
	CRDDescriptions       v1alpha1.CustomResourceDefinitions `json:"crdDescriptions"`
	APIServiceDefinitions v1alpha1.APIServiceDefinitions     `json:"apiServiceDefinitions"`
}

func fromMetadata(value json.RawMessage, b *catalog.BundleInfo) (*operator, error) {
	var m metadata
	err := json.Unmarshal(value, &m)
	if err != nil {
		return nil, fmt.Errorf("read its property %s: %w", catalog.PropertyCSVMetadata, err)
	}
	o := &operator{labels: m.Labels, description: m.description()}
	d := &o.description
	d.Annotations, d.CustomResourceDefinitions, d.APIServiceDefinitions = m.Annotations, m.CRDDescriptions, m.APIServiceDefinitions
	if d.Version.Version, err = semver.ParseTolerant(b.VersionText); err != nil {
		return nil, fmt.Errorf("read its version %q: %w", b.VersionText, err)
	}
	var images []string
	for _, i := range b.RelatedImages {
		images = append(images, i.Image)
	}
	d.RelatedImages = distinct(images)
	return o, nil
}

// distinct sorts names and leaves out empty and repeated ones.
func distinct(names []string) []string {
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	slices.Sort(names)
	return slices.Compact(names)
}
