package clusterextension

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// target is what an extension is to have: a bundle, or what an earlier revision had.
type target struct {
	Package string  `json:"package"`
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Release *string `json:"release,omitempty"`
	// Image is empty for a bundle whose manifests the catalog holds; Content identifies those.
	Image   string `json:"image,omitempty"`
	Content string `json:"content,omitempty"`

	info *catalog.BundleInfo // nil when it is not from a catalog
	// properties are those that the catalog has, or had, as JSON; empty when they are too many to be kept. Who reads that they are empty
	// does not know what the bundle needs and provides.
	properties string
	index      *catalog.Index
	// catalogImage is the reference of the catalog that index was read by, and namedBy the one that a bundle was named by which no catalog has now.
	catalogImage string
	namedBy      *image.Origin
	// source is the revision whose objects are repeated as they were; nil when they are made from the bundle.
	source *olmv1.ClusterObjectSet
	// undone is the revision that failed, so that source is gone back to; nil when it is not for that.
	undone *olmv1.ClusterObjectSet
	// otherwise is what catalogs have in the place of what failed, for where source cannot be restored; nil when they have nothing else.
	otherwise *target
}

// maxProperties bounds an annotation, in bytes: all annotations of an object can have 256 KiB.
const maxProperties = 96 << 10

// offered is the bundle that was decided on.
func offered(r *resolution.ExtensionResult, catalogs []resolution.Catalog) *target {
	t := &target{Package: r.Bundle.Package, Name: r.Bundle.Name, Version: r.Bundle.VersionText, Image: r.Bundle.Image, info: r.Bundle}
	if release := r.Bundle.Version.Release.String(); release != "" {
		t.Release = &release
	}
	if text, err := json.Marshal(r.Bundle.Properties); err == nil && len(r.Bundle.Properties) > 0 && len(text) <= maxProperties {
		t.properties = string(text)
	}
	for i := range catalogs {
		if catalogs[i].Name == r.Catalog {
			t.index, t.catalogImage = catalogs[i].Index, catalogs[i].Image
		}
	}
	if t.Image == "" && t.index != nil {
		t.Content = t.index.Digest()
	}
	return t
}

// kept is the bundle of a revision. Its image is had again where another configuration asks for that.
func kept(r *olmv1.ClusterObjectSet) *target {
	t := &target{Package: r.Annotations[olmv1.PackageNameKey], Name: r.Annotations[olmv1.BundleNameKey], Version: r.Annotations[olmv1.BundleVersionKey],
		Image: r.Annotations[olmv1.BundleReferenceKey], Content: r.Annotations[contentKey], properties: r.Annotations[propertiesKey], namedBy: NamedBy(r)}
	if release, ok := r.Annotations[olmv1.BundleReleaseKey]; ok {
		t.Release = &release
	}
	return t
}

// repeated is a target that repeats the objects of a revision.
func repeated(r *olmv1.ClusterObjectSet) *target {
	t := kept(r)
	t.source = r
	return t
}

// renderedAs is raised when the same bundle and configuration come to be other objects, which then are rolled out.
const renderedAs = 1

// inputs identify what a revision is made from: the bundle, and everything of the ClusterExtension that its objects depend on.
func (t *target) inputs(ext *olmv1.ClusterExtension, provider registryv1.CertificateProvider) string {
	if t.source != nil {
		return t.source.Annotations[inputsKey]
	}
	in := struct {
		*target
		Renderer     int
		Namespace    string
		Config       any
		Account      string
		Deadline     int32
		Certificates registryv1.CertificateProvider
	}{t, renderedAs, ext.Spec.Namespace, canonical(configOf(ext)), revision.AccountOf(ext), revision.ProgressDeadlineMinutes(ext), provider}
	text, err := json.Marshal(in)
	if err != nil {
		panic("values that were read as JSON always encode: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func configOf(ext *olmv1.ClusterExtension) json.RawMessage {
	if ext.Spec.Config == nil || ext.Spec.Config.Inline == nil {
		return nil
	}
	return ext.Spec.Config.Inline.Raw
}

// canonical is the same for the same JSON, however it is written. What is no JSON is told of when it is rendered.
func canonical(text json.RawMessage) any {
	var value any
	if len(text) == 0 || json.Unmarshal(text, &value) != nil {
		return string(text)
	}
	return value
}

// annotations are those of a revision of the target.
func (t *target) annotations() map[string]string {
	all := map[string]string{olmv1.PackageNameKey: t.Package, olmv1.BundleNameKey: t.Name, olmv1.BundleVersionKey: t.Version, olmv1.BundleReferenceKey: t.Image}
	if t.Release != nil {
		all[olmv1.BundleReleaseKey] = *t.Release
	}
	if t.Content != "" {
		all[contentKey] = t.Content
	}
	if t.properties != "" {
		all[propertiesKey] = t.properties
	}
	return all
}
