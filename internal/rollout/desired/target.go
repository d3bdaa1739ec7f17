package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

const prefix = olmv1.SettingsPrefix

// RollbackToKey is the annotation of a ClusterExtension with the number of the revision whose objects are to be installed, whatever catalogs have.
const RollbackToKey = prefix + "rollback-to"

// Annotations on a revision.
const (
	// InputsKey identifies what the revision was made from: while that stays the same, nothing is fetched or rendered.
	InputsKey = prefix + "inputs"
	// GenerationKey is the generation of the ClusterExtension that the revision was made for.
	GenerationKey = prefix + "generation"
	// ProviderKey names who issues the serving certificates of the revision.
	ProviderKey = prefix + "certificate-provider"
	// FailedKey is what a revision was made from whose rollout failed, so that this one was made to roll back; FailedNameKey is its name.
	FailedKey     = prefix + "failed-inputs"
	FailedNameKey = prefix + "failed-revision"
	// CopyKey is the name of the revision that this one repeats.
	CopyKey = prefix + "copy-of"
	// CatalogKey is the ClusterCatalog that offered the bundle, as NAME@DIGEST with the digest of its content at that time.
	CatalogKey = prefix + "catalog"
)

// Bundle identifies the bundle of a target.
type Bundle struct {
	Package string  `json:"package"`
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Release *string `json:"release,omitempty"`
	// Image is empty for a bundle whose manifests the catalog holds; Content identifies those.
	Image   string `json:"image,omitempty"`
	Content string `json:"content,omitempty"`
}

// Target is what a revision is made of: a bundle, or the objects of an earlier revision.
type Target struct {
	Bundle
	// NamedBy is the catalog that named the bundle of a revision, where no catalog offers it now.
	NamedBy *image.Origin
	// Source is the revision whose objects are repeated as they are; nil when they are rendered from the bundle.
	Source *olmv1.ClusterObjectSet
	// Undone is the revision whose rollout failed, so that Source is rolled back to; nil for other targets.
	Undone *olmv1.ClusterObjectSet

	info *catalog.BundleInfo // nil when it is not from a catalog
	// properties are those that the catalog has, or had, as JSON; empty when they are too many to be kept. Then it is not known what the
	// bundle needs and provides.
	properties string
	// offeredBy is the ClusterCatalog that offered the bundle, as NAME@DIGEST with the digest of its content then; empty where that is not known.
	offeredBy string
	index     *catalog.Index
	// catalogImage is the reference that index was read by.
	catalogImage string
}

// MaxProperties bounds an annotation, in bytes: all annotations of an object can have 256 KiB.
const MaxProperties = 96 << 10

// kept is the bundle of a revision. It is fetched again where another configuration asks for that.
func kept(r *olmv1.ClusterObjectSet) *Target {
	t := &Target{Bundle: Bundle{Package: r.Annotations[olmv1.PackageNameKey], Name: r.Annotations[olmv1.BundleNameKey], Version: r.Annotations[olmv1.BundleVersionKey],
		Image: r.Annotations[olmv1.BundleReferenceKey], Content: r.Annotations[revision.ContentKey]}, properties: r.Annotations[snapshot.PropertiesKey], offeredBy: r.Annotations[CatalogKey]}
	// The catalog that named the bundle by its digest when the revision was made may have other content by now, which takes nothing from what
	// its signature covered.
	if recorded := image.Recorded(r.Annotations); recorded != nil && strings.HasSuffix(t.Image, "@"+recorded.Digest) {
		t.NamedBy = recorded.Catalog
	}
	if release, ok := r.Annotations[olmv1.BundleReleaseKey]; ok {
		t.Release = &release
	}
	return t
}

// repeated is a target that repeats the objects of a revision.
func repeated(r *olmv1.ClusterObjectSet) *Target {
	t := kept(r)
	t.Source = r
	return t
}

// renderedAs is raised when the same bundle and configuration render to other objects, which then are rolled out.
const renderedAs = 1

// inputs identify what a revision is made from: the bundle, and everything of the ClusterExtension that its objects depend on.
func (t *Target) inputs(ext *olmv1.ClusterExtension, provider registryv1.CertificateProvider) string {
	if t.Source != nil {
		return t.Source.Annotations[InputsKey]
	}
	// What is no JSON is reported when it is rendered. The same JSON counts as the same, however it is written.
	var config any
	if text := configOf(ext); len(text) == 0 || json.Unmarshal(text, &config) != nil {
		config = string(text)
	}
	text, err := json.Marshal(struct {
		Bundle
		Renderer     int
		Namespace    string
		Config       any
		Account      string
		Deadline     int32
		Certificates registryv1.CertificateProvider
	}{t.Bundle, renderedAs, ext.Spec.Namespace, config, revision.AccountOf(ext), revision.ProgressDeadlineMinutes(ext), provider})
	if err != nil {
		panic("values that were read as JSON always encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// is reports whether a revision is of the target.
func (t *Target) is(r *olmv1.ClusterObjectSet, inputs string) bool {
	switch {
	case r == nil:
		return false
	case t.Source == nil:
		return r.Annotations[InputsKey] == inputs
	}
	copied := r.Annotations[CopyKey]
	return r.Name == t.Source.Name || copied == t.Source.Name || copied != "" && copied == t.Source.Annotations[CopyKey]
}

// Annotations returns those of a revision of the target, with more that are not empty.
func (t *Target) Annotations(ext *olmv1.ClusterExtension, inputs string, more map[string]string) map[string]string {
	all := map[string]string{olmv1.PackageNameKey: t.Package, olmv1.BundleNameKey: t.Name, olmv1.BundleVersionKey: t.Version, olmv1.BundleReferenceKey: t.Image,
		InputsKey: inputs, GenerationKey: strconv.FormatInt(ext.Generation, 10)}
	if t.Release != nil {
		all[olmv1.BundleReleaseKey] = *t.Release
	}
	if t.Source != nil {
		all[CopyKey] = t.Source.Name
	}
	if t.Undone != nil {
		all[FailedKey], all[FailedNameKey] = t.Undone.Annotations[InputsKey], t.Undone.Name
	}
	some := maps.Clone(more)
	some[revision.ContentKey], some[snapshot.PropertiesKey], some[snapshot.BundleImageKey] = t.Content, t.properties, ext.Annotations[snapshot.BundleImageKey]
	some[CatalogKey] = t.offeredBy
	for _, key := range slices.Sorted(maps.Keys(some)) {
		if some[key] != "" {
			all[key] = some[key]
		}
	}
	return all
}

// Change returns what the extension would be changed to with some objects of the target, for revision.Preflight.
func (t *Target) Change(ext *olmv1.ClusterExtension, revisions revision.History) revision.Change {
	return revision.Change{Extension: ext, Revisions: revisions, Repeated: t.Source != nil, Bundle: revision.Bundle{Name: t.Name, Version: t.Version, Image: t.Image, Content: t.Content,
		Direct: ext.Annotations[snapshot.BundleImageKey] != ""}}
}

// Request returns how the bundle is fetched. A bundle is called as its catalog calls it, whatever the name of its ClusterServiceVersion. from
// looks its image up, or its manifests, where a catalog has the bundle.
func (t *Target) Request(from func(bundleio.Origin, *catalog.BundleInfo) (bundleio.Request, error)) (bundleio.Request, error) {
	switch {
	case t.info != nil && t.index != nil:
		return from(bundleio.Origin{Index: t.index, Image: t.catalogImage, ByCatalog: true}, t.info)
	case t.Image == "":
		return bundleio.Request{}, fmt.Errorf("bundle %s has no image, and no catalog has its manifests any more: serve them again to change the configuration", t.Name)
	}
	return bundleio.Request{Name: t.Name, Image: t.Image, NamedBy: t.NamedBy, ByCatalog: true}, nil
}
