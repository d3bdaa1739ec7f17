package catalog

import (
	_ "crypto/sha256" // a digest is a valid part of a reference only where its
	_ "crypto/sha512" // algorithm is linked
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
	"github.com/distribution/reference"
)

// maxConstraint is the documented limit on the value of an olm.constraint, in bytes; constraint.MaxSize for those who interpret it.
const maxConstraint = 64 << 10

type bundleModel struct {
	source   *Bundle
	info     *BundleInfo
	payloads []Payload
	broken   bool
	listed   bool // in a channel
	packages []packageProperty
	required []requiredProperty
	count    map[string]int // of properties, by type
}

// packageProperty is the value of an olm.package.
type packageProperty struct {
	PackageName string `json:"packageName"`
	Version     string `json:"version"`
	Release     string `json:"release"`
}

// requiredProperty is the value of an olm.package.required.
type requiredProperty struct {
	PackageName  string `json:"packageName"`
	VersionRange string `json:"versionRange"`
}

func (b *bundleModel) object() Object {
	return Object{Schema: SchemaBundle, Package: b.source.Package, Name: b.source.Name}
}

func (m *model) addBundle(source *Bundle) {
	b := &bundleModel{source: source, count: map[string]int{}, info: &BundleInfo{
		Package: source.Package, Name: source.Name, Image: source.Image, RelatedImages: source.RelatedImages,
	}}
	report := m.breaks(b)
	p, ok := m.packages[source.Package]
	switch {
	case source.Package == "":
		report(RuleBundlePackage, "the bundle does not say to which package it belongs", "set package")
		return
	case !ok:
		report(RuleBundlePackage, "there is no such package", "correct package, or add an olm.package object with that name")
		return
	case source.Name == "":
		report(RuleBundleName, "the bundle has no name", "set name")
		return
	}
	if first, ok := p.bundles[source.Name]; ok {
		first.broken = true
		report(RuleBundleDuplicate, "the bundle is already defined"+at(first.source.Position), "keep one of the two")
		return
	}
	p.bundles[source.Name] = b
	p.bundleOrder = append(p.bundleOrder, b)
	m.checkProperties(b)
	m.checkVersion(b)
	// Read references as container tools do
	if b.source.Image == "" && b.count[PropertyBundleObject] == 0 {
		m.breaks(b)(RuleBundleImage, "the bundle has neither an image nor manifests", "set image")
	}
	if err := m.image(b.source.Image); err != nil {
		m.breaks(b)(RuleBundleImage, fmt.Sprintf("image %s: %v", safetext.Quote(b.source.Image), err), "write a reference such as registry.example.com/name@sha256:…")
	}
	var bad, empty []string
	for i, related := range b.source.RelatedImages {
		switch {
		case related.Image == "":
			empty = append(empty, fmt.Sprintf("relatedImages[%d]", i))
		case m.image(related.Image) != nil:
			bad = append(bad, related.Image)
		}
	}
	if len(empty) > 0 {
		m.report(Warning, RuleRelatedImage, b.object(), b.source.Position, "these related images name no image: "+safetext.QuoteList(empty), "set image, or remove them; as they are, a mirror lacks what was meant")
	}
	if len(bad) > 0 {
		m.report(Warning, RuleRelatedImage, b.object(), b.source.Position, "these related images are not references to images: "+safetext.QuoteList(bad), "write references such as registry.example.com/name@sha256:…; until then they cannot be mirrored")
	}
}

// breaks returns a function that reports what is wrong with a bundle.
func (m *model) breaks(b *bundleModel) func(Rule, string, string) {
	return func(rule Rule, message, fix string) {
		b.broken = true
		m.report(Error, rule, b.object(), b.source.Position, message, fix)
	}
}

// checkVersion reads the version from the one olm.package property.
func (m *model) checkVersion(b *bundleModel) {
	report := m.breaks(b)
	if n := b.count[PropertyPackage]; n != 1 {
		report(RuleBundlePackageProperty, fmt.Sprintf("the bundle has %d properties of type %q; it must have exactly one", n, PropertyPackage),
			"give it one with packageName and version")
		return
	}
	if len(b.packages) == 0 {
		return // the property could not be read
	}
	p := b.packages[0]
	if p.PackageName != b.source.Package {
		report(RuleBundlePackageProperty, fmt.Sprintf("its %q property names the package %s", PropertyPackage, safetext.Quote(p.PackageName)),
			"write the same name in both places")
	}
	v, err := version.Parse(p.Version)
	if err != nil {
		report(RuleBundleVersion, err.Error(), "write three numbers without leading zeros and without \"v\"")
		return
	}
	release, err := version.ParseRelease(p.Release)
	if err != nil {
		report(RuleBundleRelease, err.Error(), "write at most 20 letters, digits, dashes and dots")
	}
	b.info.VersionText = p.Version
	b.info.Version = version.VersionRelease{Version: v, Release: release}
	switch name := fmt.Sprintf("%s-v%s-%s", b.source.Package, v, release); {
	case len(release) > 0 && len(v.Build) > 0:
		report(RuleBundleRelease, "the version has both build metadata and a release", "remove the build metadata")
	case len(release) > 0 && b.source.Name != name:
		report(RuleBundleRelease, "the name of a bundle with a release is made of package, version and release", "rename the bundle to "+safetext.Quote(name))
	case len(release) == 0 && len(v.Build) > 0 && slices.ContainsFunc(b.payloads, func(p Payload) bool { return p.substitutes }):
		b.info.Version = version.FromBuild(v)
	}
}

// maxReference is more than any reference to an image has, in bytes.
const maxReference = 4096

// image checks a reference; the same ones occur many times in a catalog.
func (m *model) image(ref string) error {
	if ref == "" {
		return nil
	}
	if len(ref) > maxReference {
		return fmt.Errorf("it has %d bytes; the most allowed is %d", len(ref), maxReference)
	}
	err, known := m.images[ref]
	if !known {
		_, err = reference.ParseNormalizedNamed(ref)
		m.images[ref] = err
	}
	return err
}
