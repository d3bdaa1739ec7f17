package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"fairlead.dev/fairlead/bundle"
)

const annotationsName = "annotations.yaml"

// annotationKeys are the annotations that every bundle has, in the order in which they are written; the last one may be missing.
var annotationKeys = []string{
	bundle.AnnotationMediaType, bundle.AnnotationManifests, bundle.AnnotationMetadata, bundle.AnnotationPackage,
	bundle.AnnotationChannels, bundle.AnnotationDefaultChannel,
}

// planMetadata plans the annotations and copies the other metadata that are there.
func (p *Plan) planMetadata(r Request, root string) error {
	dir := filepath.Join(root, metadataDir)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		if p.metadata, err = bundle.ReadFiles(os.DirFS(dir), "."); err != nil {
			return err
		}
	}
	// The annotations that are asked for.
	out := map[string]string{
		bundle.AnnotationMediaType: p.MediaType,
		bundle.AnnotationManifests: manifestsDir + "/",
		bundle.AnnotationMetadata:  metadataDir + "/",
		bundle.AnnotationPackage:   r.Package,
		bundle.AnnotationChannels:  strings.Join(r.Channels, ","),
	}
	if r.DefaultChannel != "" {
		out[bundle.AnnotationDefaultChannel] = r.DefaultChannel
	}
	p.Annotations = out
	at, old, err := p.findAnnotations()
	if err != nil {
		return err
	}
	if at < 0 {
		p.metadata = append(p.metadata, bundle.File{Name: annotationsName})
		at = len(p.metadata) - 1
	}
	same, err := compare(p.Annotations, old, r.Overwrite || p.metadata[at].Data == nil)
	if err != nil {
		return fmt.Errorf("compare with %s: %w; correct it, or overwrite it", filepath.Join(dir, p.metadata[at].Name), err)
	}
	for key, value := range old { // what others have written there stays
		if _, ours := p.Annotations[key]; !ours {
			p.Annotations[key] = value
		}
	}
	if same {
		return nil
	}
	if p.metadata[at].Data, err = annotationsYAML(p.Annotations); err != nil {
		return err
	}
	return p.add(filepath.Join(dir, p.metadata[at].Name), p.metadata[at].Data, true) // compared above
}

// findAnnotations finds the file with annotations, by what it holds; -1 if there is none.
func (p *Plan) findAnnotations() (int, map[string]string, error) {
	for i, f := range p.metadata {
		annotations, err := bundle.ReadAnnotations(f.Data)
		if err == nil && len(annotations) > 0 {
			return i, annotations, nil
		}
		if err != nil && f.Name == annotationsName {
			return 0, nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return -1, nil, nil
}

// compare says whether all that is wanted is there. Without overwrite, what differs is an error.
func compare(want, have map[string]string, overwrite bool) (bool, error) {
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, ok := have[key]
		switch {
		case !ok:
			faults = append(faults, "Missing field: "+key)
		case value != want[key]:
			faults = append(faults, fmt.Sprintf("Expect field %q to have value %q instead of %q", key, want[key], value))
		}
	}
	if len(faults) > 0 && !overwrite {
		return false, errors.New(strings.Join(faults, "; "))
	}
	return len(faults) == 0, nil
}

// annotationsYAML is the file, the well-known annotations first.
func annotationsYAML(annotations map[string]string) ([]byte, error) {
	keys := slices.Clone(annotationKeys)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	list := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range keys {
		if value, ok := annotations[key]; ok {
			list.Content = append(list.Content, textNode(key), textNode(value))
		}
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]*yaml.Node{"annotations": list}); err != nil {
		return nil, fmt.Errorf("write annotations: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

// textNode is a string. One of several lines is quoted: as a block, a line that begins with a tab could not be read again.
func textNode(text string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(text)
	if node.Style == yaml.LiteralStyle {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}
