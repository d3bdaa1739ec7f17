// Package configmap puts a bundle into the content of a ConfigMap and back. Tools hand bundles over in this form.
//
// It knows the content alone and never a cluster. What it reads is untrusted and read within limits; what it writes is always the
// same for the same bundle. Start reading at Encode; Files is its inverse.
package configmap

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// DefaultLimit is how many bytes of content a ConfigMap may hold.
const DefaultLimit = 1 << 20

// EncodingAnnotation says how the binary data are encoded.
const EncodingAnnotation = v1alpha1.ContentEncodingAnnotation

// encoding is the value of the annotation with the encoding of binary data.
const encoding = "gzip+base64"

// Content is what a ConfigMap holds.
type Content struct {
	Annotations map[string]string
	Data        map[string]string
	BinaryData  map[string][]byte
}

// Options say how to write.
type Options struct {
	// Limit bounds the content in bytes; 0 means DefaultLimit.
	Limit int
	// Gzip compresses files.
	Gzip bool
	// SourceImage is the image that the bundle comes from, if any.
	SourceImage string
}

// unusable are the characters that keys of ConfigMaps do not have.
var unusable = regexp.MustCompile(`[^-A-Za-z0-9_.]`)

// Encode puts the files of a bundle, the directories manifests and metadata, into the content of a ConfigMap. The well-known
// annotations of the bundle become annotations, and all other files data.
func Encode(fsys fs.FS, o Options) (*Content, error) {
	c, err := encode(fsys, o)
	if err != nil {
		return nil, fmt.Errorf("put bundle into a ConfigMap: %w", err)
	}
	return c, nil
}

func encode(fsys fs.FS, o Options) (*Content, error) {
	w := writer{left: o.Limit, gzip: o.Gzip, from: map[string]string{}}
	if o.Limit == 0 {
		w.left = DefaultLimit
	}
	limit := w.left
	w.content = Content{Annotations: map[string]string{}, Data: map[string]string{}, BinaryData: map[string][]byte{}}
	for _, dir := range []string{"manifests", "metadata"} {
		files, err := bundle.ReadFiles(fsys, dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if dir == "metadata" && w.takeAnnotations(f) {
				continue
			}
			if err := w.add(f); err != nil {
				return nil, err
			}
			if w.left < 0 {
				return nil, fmt.Errorf("bundle files exceeded %d bytes limit at %s; compress them, or make the bundle smaller", limit, f.Name)
			}
		}
	}
	if o.Gzip {
		w.content.Annotations[EncodingAnnotation] = encoding
	}
	if o.SourceImage != "" {
		w.content.Annotations[v1alpha1.SourceImageAnnotation] = o.SourceImage
	}
	return &w.content, nil
}

// writer fills the content.
type writer struct {
	content Content
	from    map[string]string // files by key
	left    int
	gzip    bool
}

// takeAnnotations takes the annotations of the bundle out of a metadata file that holds nothing else.
func (w *writer) takeAnnotations(f bundle.File) bool {
	annotations, err := bundle.ReadAnnotations(f.Data)
	if err != nil || f.Lines().Has("dependencies") || f.Lines().Has("properties") {
		return false
	}
	for key, value := range annotations {
		if strings.HasPrefix(key, v1alpha1.BundleAnnotationPrefix) {
			w.content.Annotations[key] = value
		}
	}
	return true
}

func (w *writer) add(f bundle.File) error {
	key := unusable.ReplaceAllString(path.Base(f.Name), "-")
	if other, taken := w.from[key]; taken {
		return fmt.Errorf("%s and %s have the same key %s; rename one of them", other, f.Name, key)
	}
	w.from[key] = f.Name
	if !w.gzip {
		if !utf8.Valid(f.Data) {
			return fmt.Errorf("%s is no text; compress the files", f.Name)
		}
		w.content.Data[key] = string(f.Data)
		w.left -= len(f.Data)
		return nil
	}
	packed, err := pack(f.Data)
	if err != nil {
		return fmt.Errorf("compress %s: %w", f.Name, err)
	}
	w.content.BinaryData[key] = packed
	w.left -= len(packed)
	return nil
}

func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(data); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return []byte(base64.StdEncoding.EncodeToString(packed.Bytes())), nil
}
