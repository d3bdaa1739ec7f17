package snapshot

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// BundleImageKey is the annotation of a ClusterExtension with the image of the bundle that it is to have, by digest. While it is there, neither catalogs nor
// spec.source.catalog.version, channels and upgradeConstraintPolicy decide.
const BundleImageKey = olmv1.SettingsPrefix + "bundle-image"

// PropertiesKey is the annotation of a revision with the properties that its bundle has in its catalog, as JSON. It is missing when they are
// too many.
const PropertiesKey = olmv1.SettingsPrefix + "properties"

// BundleImage is the image that a ClusterExtension names; empty when catalogs decide. A tag is refused: it can become something else at any time, also
// in the middle of a rollout.
func BundleImage(ext *olmv1.ClusterExtension) (string, error) {
	text, ok := ext.Annotations[BundleImageKey]
	if !ok {
		return "", nil
	}
	if err := image.CheckPinned(text); err != nil {
		return "", fmt.Errorf("annotation %s is %q: %w", BundleImageKey, text, err)
	}
	return text, nil
}

// ReadBundleImage is the catalog that has nothing but a bundle, which was read from an image.
func ReadBundleImage(b *bundle.Bundle, ref string) (*catalog.Index, error) {
	one, err := b.ToCatalog(ref)
	if err != nil {
		return nil, err
	}
	// A bundle with an image needs no manifests in its catalog.
	one.Properties = slices.DeleteFunc(one.Properties, func(p catalog.Property) bool { return p.Type == catalog.PropertyBundleObject })
	return imageIndex(one)
}

// KnownBundleImage is the catalog that has nothing but the bundle of a revision; nil when the revision is not of the image, or does not tell enough.
func KnownBundleImage(set *olmv1.ClusterObjectSet, ref string) *catalog.Index {
	if set == nil || set.Annotations[olmv1.BundleReferenceKey] != ref {
		return nil
	}
	b := catalog.Bundle{Schema: catalog.SchemaBundle, Name: set.Annotations[olmv1.BundleNameKey], Package: set.Annotations[olmv1.PackageNameKey], Image: ref}
	if json.Unmarshal([]byte(set.Annotations[PropertiesKey]), &b.Properties) != nil {
		return nil
	}
	x, err := imageIndex(b)
	if err != nil {
		return nil // it is read again, which says what is wrong
	}
	return x
}

func imageIndex(b catalog.Bundle) (*catalog.Index, error) {
	x, err := catalog.NewIndex(&catalog.Catalog{
		Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: b.Package, DefaultChannel: BundleImageKey}},
		Channels: []catalog.Channel{{Schema: catalog.SchemaChannel, Name: BundleImageKey, Package: b.Package, Entries: []catalog.Entry{{Name: b.Name}}}},
		Bundles:  []catalog.Bundle{b},
	}, b.Image)
	if err != nil {
		return nil, fmt.Errorf("make a catalog of bundle %s: %w", b.Name, err)
	}
	return x, nil
}

// WrongPackage says that an image is no bundle of a package.
func WrongPackage(ref, pkg string) error {
	return fmt.Errorf("image %s, which annotation %s names, is no bundle of package %s, which spec.source.catalog.packageName names", ref, BundleImageKey, pkg)
}

// NarrowToImage makes a request one for the bundle of an image, whose catalog x is, whatever other catalogs have. Those that are selected tell what
// could meet its needs.
func NarrowToImage(in resolution.ExtensionRequest, x *catalog.Index, ref string) (resolution.ExtensionRequest, error) {
	if _, ok := x.Package(in.Package); !ok {
		return in, WrongPackage(ref, in.Package)
	}
	selector := labels.Everything()
	if in.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(in.Selector); err != nil {
			return in, nil // deciding says so
		}
	}
	in.Catalogs = slices.DeleteFunc(slices.Clone(in.Catalogs), func(c resolution.Catalog) bool {
		all := labels.Set{resolution.LabelName: c.Name}
		return !selector.Matches(labels.Merge(c.Labels, all))
	})
	in.Catalogs = append(in.Catalogs, resolution.Catalog{Name: "image " + ref, Priority: math.MaxInt, Index: x})
	in.Selector, in.Version, in.Channels, in.Policy = nil, "", []string{BundleImageKey}, resolution.SelfCertified
	return in, nil
}
