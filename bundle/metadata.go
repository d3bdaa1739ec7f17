package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// Keys of the annotations of a bundle.
const (
	AnnotationMediaType      = "operators.operatorframework.io.bundle.mediatype.v1"
	AnnotationManifests      = "operators.operatorframework.io.bundle.manifests.v1"
	AnnotationMetadata       = "operators.operatorframework.io.bundle.metadata.v1"
	AnnotationPackage        = "operators.operatorframework.io.bundle.package.v1"
	AnnotationChannels       = "operators.operatorframework.io.bundle.channels.v1"
	AnnotationDefaultChannel = "operators.operatorframework.io.bundle.channel.default.v1"
)

// MediaType is the media type of the bundles that are understood here.
const MediaType = "registry+v1"

const (
	metadataDir         = "metadata"
	defaultManifestsDir = "manifests"
)

// readMetadata finds annotations, dependencies and properties by what the files of the metadata directory hold. It is
// false when reading on makes no sense.
func (in *Inspection) readMetadata(r *reader) bool {
	files, ok := in.listFiles(r, metadataDir, ErrNoMetadata)
	if !ok {
		return len(in.Problems) == 0 || errors.Is(in.Problems[0].Err, fs.ErrNotExist)
	}
	if err := r.lim.checkTotalTokens(files); err != nil {
		in.fail("", err)
		return false
	}
	found := map[string]string{}
	for _, f := range files {
		in.Metadata = append(in.Metadata, File{Name: f.name, Data: f.data})
		in.takeMetadata(f, r.lim, found)
	}
	if found[annotationsKey] == "" {
		in.fail("", markf(ErrNoAnnotations, "read %s: no file holds the annotations of a bundle; add %s/annotations.yaml", metadataDir, metadataDir))
		return true
	}
	in.useAnnotations(r.fsys, found[annotationsKey])
	return true
}

// Keys of the metadata files.
const (
	annotationsKey  = "annotations"
	dependenciesKey = "dependencies"
	propertiesKey   = "properties"
)

// takeMetadata takes what one file holds, unless an earlier file held it already.
func (in *Inspection) takeMetadata(f file, lim limits, found map[string]string) {
	sections, err := metadataSections(f, lim)
	if err != nil {
		if isManifestName(f.name) {
			in.fail(f.name, err)
		} else {
			in.notice(f.name, fmt.Errorf("passed over: %w", err))
		}
		return
	}
	for _, key := range []string{annotationsKey, dependenciesKey, propertiesKey} {
		section, ok := sections[key]
		if !ok || len(section.node.Content) == 0 && section.node.Kind != yaml.AliasNode {
			continue
		}
		if found[key] != "" {
			in.notice(f.name, fmt.Errorf("%s passed over: %s has them", key, found[key]))
			continue
		}
		found[key] = f.name
		var wrapped int
		var errs []error
		switch b := in.Bundle; key {
		case annotationsKey:
			if b.Annotations, err = section.texts(); err != nil {
				errs = []error{err}
			}
		case propertiesKey:
			b.Properties, wrapped, errs = section.properties()
		case dependenciesKey:
			var properties []catalog.Property
			properties, wrapped, errs = section.properties()
			for _, p := range properties {
				b.Dependencies = append(b.Dependencies, Dependency(p))
			}
		}
		if wrapped > 0 {
			in.notice(f.name, markf(ErrWrappedEntry, "%s: %d entries are wrapped in property, which other tools do not read; write type and value in the entry itself", key, wrapped))
		}
		for _, err := range errs {
			in.fail(f.name, fmt.Errorf("%s: %w", key, err))
		}
	}
}

// useAnnotations copies what the annotations say.
func (in *Inspection) useAnnotations(fsys fs.FS, name string) {
	b := in.Bundle
	b.Package = strings.TrimSpace(b.Annotations[AnnotationPackage])
	for _, channel := range strings.Split(b.Annotations[AnnotationChannels], ",") {
		if channel = strings.TrimSpace(channel); channel != "" {
			b.Channels = append(b.Channels, channel)
		}
	}
	b.DefaultChannel = strings.TrimSpace(b.Annotations[AnnotationDefaultChannel])
	if b.DefaultChannel == "" && len(b.Channels) > 0 {
		b.DefaultChannel = slices.Min(b.Channels)
	}
	if mediaType := b.Annotations[AnnotationMediaType]; mediaType != MediaType && mediaType != "" {
		in.fail(name, markf(ErrMediaType, "annotation %s: media type %q is not supported; only %q is", AnnotationMediaType, mediaType, MediaType))
	}
	// Find the directory that the annotations name.
	named, ok := in.Bundle.Annotations[AnnotationManifests]
	if !ok {
		return
	}
	dir := path.Clean(strings.Trim(named, "/"))
	if !fs.ValidPath(dir) || dir == "." || dir == metadataDir {
		in.fail(name, fmt.Errorf("annotation %s: %q is not a directory of the bundle; use %q", AnnotationManifests, named, defaultManifestsDir+"/"))
		return
	}
	if _, err := fs.Stat(fsys, dir); err != nil && dir != defaultManifestsDir {
		in.notice(name, fmt.Errorf("annotation %s: there is no directory %q; using %q", AnnotationManifests, named, defaultManifestsDir))
		return
	}
	in.ManifestsDir = dir
}

// Media types of bundles that are not understood here, but known.
const (
	MediaTypeHelm  = "helm"
	MediaTypePlain = "plain"
)

// DetectMediaType tells what kind of bundle a directory of manifests is for: a Helm chart, a registry+v1 bundle, or
// plain manifests. It is false when none of the files is YAML or JSON.
func DetectMediaType(files []File) (string, bool) {
	found := ""
	for _, f := range files {
		if !isManifestName(f.Name) {
			continue
		}
		value, _, err := decodeValue(file{data: f.Data}, defaultLimits)
		object, ok := value.(map[string]any)
		text := func(key string) string { v, _ := object[key].(string); return v }
		switch {
		case err != nil || !ok:
			continue
		case path.Base(f.Name) == "Chart.yaml" && text("apiVersion") != "" && text("name") != "" && text("version") != "":
			return MediaTypeHelm, true
		case object["kind"] == v1alpha1.ClusterServiceVersionKind:
			found = MediaType
		case found == "":
			found = MediaTypePlain
		}
	}
	return found, found != ""
}
