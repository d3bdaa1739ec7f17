package packagemanifest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
)

// What a package may cost.
const (
	maxEntries = 10_000
	maxFile    = 8 << 20
	maxTotal   = 512 << 20
	maxDepth   = 10
)

// object is a manifest file.
type object struct {
	file string
	text []byte
	kind string
	name string
	owns []string // names of CRDs, if it is a ClusterServiceVersion
}

const (
	csvKind = "ClusterServiceVersion"
	crdKind = "CustomResourceDefinition"
)

// reader reads the manifests of a package and what they are bundles of.
type reader struct {
	ctx      context.Context
	tree     fs.FS
	skip     string // the package file
	entries  int
	total    int64
	bundles  map[string]*bundle.Bundle
	files    map[string]string // of the ClusterServiceVersions, by name
	warnings []string
}

func (r *reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

// dir reads a directory and those below it.
func (r *reader) dir(dir string, depth int) error {
	entries, err := fs.ReadDir(r.tree, dir)
	if err != nil {
		return fmt.Errorf("read directory %s: %w", dir, err)
	}
	var objects []object
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if err := context.Cause(r.ctx); err != nil {
			return err
		}
		if r.entries++; r.entries > maxEntries {
			return fmt.Errorf("read directory %s: more than %d files and directories in the package", dir, maxEntries)
		}
		switch {
		case strings.HasPrefix(entry.Name(), ".") || name == r.skip:
		case entry.IsDir() && depth >= maxDepth:
			return fmt.Errorf("read directory %s: more than %d directories deep", name, maxDepth)
		case entry.IsDir():
			if err := r.dir(name, depth+1); err != nil {
				return err
			}
		case isYAML(entry.Name()):
			o, err := r.object(name)
			if err != nil {
				return err
			}
			if o.kind != "" {
				objects = append(objects, o)
			}
		}
	}
	return r.group(dir, objects)
}

// object reads the kind and name of a manifest; it has none if it is something else.
func (r *reader) object(name string) (object, error) {
	text, err := readFile(r.tree, name, maxFile)
	if err != nil {
		return object{}, fmt.Errorf("read %s: %w", name, err)
	}
	if r.total += int64(len(text)); r.total > maxTotal {
		return object{}, fmt.Errorf("read %s: the package is larger than %d bytes", name, maxTotal)
	}
	var header struct {
		APIVersion string
		Kind       string
		Metadata   struct{ Name string }
		Spec       struct {
			CustomResourceDefinitions struct{ Owned []struct{ Name string } }
		}
	}
	// The bundle package reads the file in earnest, and says what is wrong with it.
	asJSON, err := catalog.ToJSON(text)
	if err == nil {
		err = json.Unmarshal(asJSON, &header)
	}
	if header.Kind == "" || header.APIVersion == "" {
		reason := "it is no Kubernetes object with apiVersion and kind"
		if err != nil {
			reason = err.Error()
		}
		r.warn("%s: passed over: %s", name, reason)
		return object{}, nil
	}
	o := object{file: name, text: text, kind: header.Kind, name: header.Metadata.Name}
	for _, crd := range header.Spec.CustomResourceDefinitions.Owned {
		o.owns = append(o.owns, crd.Name)
	}
	return o, nil
}

// group makes a bundle of each ClusterServiceVersion in a directory with all else that is in it. Several in one directory share
// it: each gets the CRDs that it owns, and what is no CRD.
func (r *reader) group(dir string, objects []object) error {
	var csvs []object
	for _, o := range objects {
		if o.kind == csvKind {
			csvs = append(csvs, o)
		}
	}
	if len(csvs) == 0 && len(objects) > 0 {
		r.warn("%s: passed over: no ClusterServiceVersion is in it", dir)
	}
	for _, csv := range csvs {
		content := fstest.MapFS{}
		for _, o := range objects {
			if o.file == csv.file || o.kind != csvKind && (len(csvs) == 1 || o.kind != crdKind || slices.Contains(csv.owns, o.name)) {
				content["manifests/"+path.Base(o.file)] = &fstest.MapFile{Data: o.text}
			}
		}
		if err := r.bundle(csv, content); err != nil {
			return fmt.Errorf("read %s: %w", csv.file, err)
		}
	}
	return nil
}

// bundle reads the files of one bundle.
func (r *reader) bundle(csv object, content fstest.MapFS) error {
	content["metadata/annotations.yaml"] = &fstest.MapFile{Data: []byte("annotations:\n  " + bundle.AnnotationMediaType + ": " + bundle.MediaType + "\n")}
	b, err := bundle.Load(content)
	if err != nil {
		return err
	}
	if first, ok := r.files[b.Name]; ok {
		return fmt.Errorf("%s is called %s, too; keep one of the two", first, b.Name)
	}
	if len(r.bundles) >= maxBundles {
		return errTooMany
	}
	for _, warning := range b.Warnings {
		r.warn("%s: %s", path.Dir(csv.file), warning)
	}
	r.bundles[b.Name], r.files[b.Name] = b, csv.file
	return nil
}

const maxBundles = 2000

var errTooMany = errors.New("there are too many ClusterServiceVersions in one package")
