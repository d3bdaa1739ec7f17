package configmap

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// What is read out of one ConfigMap at most, expanded. The content itself is bounded by the API server.
const (
	maxFile  = 8 << 20
	maxTotal = 64 << 20
	maxFiles = 1000
)

// Files are the files of the bundle in the content of a ConfigMap, for bundle.Load: the manifests, and the metadata with
// the annotations.
func Files(c *Content) (map[string][]byte, error) {
	files, err := decode(c)
	if err != nil {
		return nil, fmt.Errorf("read bundle from a ConfigMap: %w", err)
	}
	return files, nil
}

func decode(c *Content) (map[string][]byte, error) {
	switch n := len(c.Data) + len(c.BinaryData); {
	case n == 0:
		return nil, errors.New("it holds no files; put the manifests of a bundle into it")
	case n > maxFiles:
		return nil, fmt.Errorf("it holds more than %d files", maxFiles)
	}
	all, err := expand(c)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key == "." || !fs.ValidPath(key) || strings.Contains(key, "/") {
			return nil, fmt.Errorf("key %q is no name of a file", key)
		}
		dir := "manifests/"
		if mayBeMetadata.Match(all[key]) { // most files are large manifests
			lines := bundle.File{Name: key, Data: all[key]}.Lines()
			if !lines.Has("kind") && (lines.Has("annotations") || lines.Has("dependencies") || lines.Has("properties")) {
				dir = "metadata/"
			}
		}
		files[dir+key] = all[key]
	}
	return files, addAnnotations(files, c.Annotations)
}

// expand is all data, decompressed.
func expand(c *Content) (map[string][]byte, error) {
	all := map[string][]byte{}
	total := 0
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		all[key] = []byte(c.Data[key])
		total += len(c.Data[key])
	}
	packed := c.Annotations[EncodingAnnotation]
	for _, key := range slices.Sorted(maps.Keys(c.BinaryData)) {
		data := c.BinaryData[key]
		switch packed {
		case "":
		case encoding:
			var err error
			if data, err = unpack(data); err != nil {
				return nil, fmt.Errorf("expand %s: %w", key, err)
			}
		default:
			return nil, fmt.Errorf("its annotation %s is %q, and only %q is known", EncodingAnnotation, packed, encoding)
		}
		if _, twice := all[key]; twice {
			return nil, fmt.Errorf("the key %s is in data and in binaryData", key)
		}
		all[key] = data
		if total += len(data); total > maxTotal {
			return nil, fmt.Errorf("its files are larger than %d bytes, expanded", maxTotal)
		}
	}
	return all, nil
}

func unpack(data []byte) ([]byte, error) {
	zip, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(data)))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(zip, maxFile+1))
	if err == nil && len(out) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return out, err
}

// mayBeMetadata are keys that only files of metadata have at the start of a line, or in JSON.
var mayBeMetadata = regexp.MustCompile(`(?m)^["']?(annotations|dependencies|properties)["']?\s*:|^\s*\{`)

// addAnnotations makes the file that Encode has left out.
func addAnnotations(files map[string][]byte, annotations map[string]string) error {
	own := map[string]string{}
	for key, value := range annotations {
		if strings.HasPrefix(key, v1alpha1.BundleAnnotationPrefix) {
			own[key] = value
		}
	}
	if len(own) == 0 {
		return nil
	}
	const name = "metadata/annotations.yaml"
	if _, taken := files[name]; taken {
		return nil // a file says more than the annotations
	}
	text, err := yaml.Marshal(map[string]any{"annotations": own})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	files[name] = text
	return nil
}
