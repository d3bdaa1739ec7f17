package image

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// Labels of bundle images and of catalog images.
const (
	LabelConfigs        = "operators.operatorframework.io.index.configs.v1"
	LabelMediaType      = "operators.operatorframework.io.bundle.mediatype.v1"
	LabelManifests      = "operators.operatorframework.io.bundle.manifests.v1"
	LabelMetadata       = "operators.operatorframework.io.bundle.metadata.v1"
	LabelPackage        = "operators.operatorframework.io.bundle.package.v1"
	LabelChannels       = "operators.operatorframework.io.bundle.channels.v1"
	LabelDefaultChannel = "operators.operatorframework.io.bundle.channel.default.v1"
)

const (
	defaultConfigs   = "/configs"
	defaultManifests = "manifests/"
	defaultMetadata  = "metadata/"
)

// CatalogLabels returns the labels of a catalog image whose file-based catalog
// is in the directory /configs.
func CatalogLabels() map[string]string { return map[string]string{LabelConfigs: defaultConfigs} }

// BundleLabels returns the labels of a registry+v1 bundle image. An empty
// default channel gets no label.
func BundleLabels(pkg string, channels []string, defaultChannel string) map[string]string {
	labels := map[string]string{
		LabelMediaType: "registry+v1",
		LabelManifests: defaultManifests,
		LabelMetadata:  defaultMetadata,
		LabelPackage:   pkg,
		LabelChannels:  strings.Join(channels, ","),
	}
	if defaultChannel != "" {
		labels[LabelDefaultChannel] = defaultChannel
	}
	return labels
}

// ErrNoCatalog is in the chain of the error about an image without file-based catalog.
var ErrNoCatalog = errors.New("it has no label " + LabelConfigs + ", so it is no file-based catalog image")

// CatalogDir returns the directory of the file-based catalog in an image, as a
// path for fs.Sub.
func CatalogDir(labels map[string]string) (string, error) {
	value, ok := labels[LabelConfigs]
	if pkg, bundle := labels[LabelPackage]; !ok && bundle {
		return "", bundleError(pkg)
	}
	if !ok {
		return "", ErrNoCatalog
	}
	return labelDir(LabelConfigs, value)
}

// bundleError is about a bundle image in the place of a catalog. It is no ErrNoCatalog: what that is about may be run, and then serve a catalog.
func bundleError(pkg string) error {
	return &Error{Kind: InvalidImage, Reason: fmt.Sprintf("it is a bundle (label %s=%s), not a catalog", LabelPackage, messages.Line(pkg, 100)),
		Advice: "name the image of a catalog; to put the bundle into one: fairlead catalog add-bundle"}
}

// BundleDirs returns the directories of the manifests and of the metadata in a
// bundle image, as paths for fs.Sub.
func BundleDirs(labels map[string]string) (manifests, metadata string, err error) {
	if _, ok := labels[LabelConfigs]; ok {
		return "", "", fmt.Errorf("its label %s makes it a catalog image, not a bundle image", LabelConfigs)
	}
	if manifests, err = labelDir(LabelManifests, cmp.Or(labels[LabelManifests], defaultManifests)); err != nil {
		return "", "", err
	}
	metadata, err = labelDir(LabelMetadata, cmp.Or(labels[LabelMetadata], defaultMetadata))
	return manifests, metadata, err
}

// SelectCatalog wants the files of a file-based catalog image.
func SelectCatalog(labels map[string]string) (func(path string) bool, error) {
	dir, err := CatalogDir(labels)
	if err != nil {
		return nil, err
	}
	return func(p string) bool { return within(p, dir) }, nil
}

// SelectBundle wants the files of a registry+v1 bundle image. Images without
// labels are read as if they had the usual ones.
func SelectBundle(labels map[string]string) (func(path string) bool, error) {
	manifests, metadata, err := BundleDirs(labels)
	if err != nil {
		return nil, err
	}
	return func(p string) bool { return within(p, manifests) || within(p, metadata) }, nil
}

// labelDir cleans a directory that a label names. The whole image is none: it
// would make every file of it part of the content.
func labelDir(label, value string) (string, error) {
	dir := path.Clean("/" + value)[1:]
	if dir == "" {
		return "", fmt.Errorf("its label %s must name a directory below the root, not %q", label, value)
	}
	return dir, nil
}

func within(p, dir string) bool { return strings.HasPrefix(p, dir+"/") }
