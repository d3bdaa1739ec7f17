package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// listFiles reads the regular files of a directory that are not hidden, by name. Directories below it are passed over.
// It is false when the directory, or a file in it, cannot be read; missing is what the error for no directory is about.
func (in *Inspection) listFiles(r *reader, dir string, missing error) ([]file, bool) {
	entries, err := fs.ReadDir(r.fsys, dir)
	if err != nil {
		in.fail("", markf(missing, "read directory %s: %w; a bundle has the directories %s and %s", dir, err, defaultManifestsDir, metadataDir))
		return nil, false
	}
	if len(entries) > r.lim.files {
		in.fail("", fmt.Errorf("read directory %s: more than %d files", dir, r.lim.files))
		return nil, false
	}
	var files []file
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		hidden := strings.HasPrefix(entry.Name(), ".")
		if !hidden && !entry.Type().IsRegular() {
			in.notice(name, errors.New("passed over: not a regular file"))
		}
		if hidden || !entry.Type().IsRegular() {
			if dir != metadataDir { // what else lies in the metadata is of no interest
				in.Ignored = append(in.Ignored, name)
			}
			continue
		}
		f, err := r.read(name)
		if err != nil {
			in.fail("", err)
			return nil, false
		}
		files = append(files, f)
	}
	return files, true
}

// ReadFiles reads the files of a directory that would be part of a bundle, within the limits of bundles, by name.
func ReadFiles(fsys fs.FS, dir string) ([]File, error) {
	in := &Inspection{Bundle: &Bundle{}}
	files, ok := in.listFiles(&reader{fsys: fsys, lim: defaultLimits}, dir, ErrNoManifests)
	if !ok {
		return nil, in.err()
	}
	out := make([]File, 0, len(files))
	for _, f := range files {
		out = append(out, File{Name: f.name, Data: f.data})
	}
	return out, nil
}

// ReadAnnotations reads the annotations out of a metadata file.
func ReadAnnotations(data []byte) (map[string]string, error) {
	sections, err := metadataSections(file{data: data}, defaultLimits)
	if err != nil {
		return nil, fmt.Errorf("read annotations: %w", err)
	}
	section, ok := sections[annotationsKey]
	if !ok {
		return nil, fmt.Errorf("read annotations: there is no key %s", annotationsKey)
	}
	return section.texts()
}
