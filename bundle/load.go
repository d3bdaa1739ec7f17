package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Load reads a bundle: the metadata in the directory metadata, and the manifests in the directory that the metadata
// names. Content that cannot be installed is an error, with the name of the file; what is merely passed over is a warning.
func Load(fsys fs.FS) (*Bundle, error) {
	b, err := load(fsys, defaultLimits)
	if err != nil {
		return nil, fmt.Errorf("load bundle: %w", err)
	}
	return b, nil
}

func load(fsys fs.FS, lim limits) (*Bundle, error) {
	in := inspect(fsys, lim)
	if err := in.err(); err != nil {
		return nil, err
	}
	return in.Bundle, nil
}

// FromManifests makes a bundle of the manifests that a catalog holds inline, which know nothing of package and channels.
func FromManifests(manifests []json.RawMessage) (*Bundle, error) {
	in := inspectManifests(manifests, defaultLimits)
	if err := in.err(); err != nil {
		return nil, fmt.Errorf("load bundle from inline manifests: %w", err)
	}
	return in.Bundle, nil
}

// inlineFiles gives inline manifests the names of files.
func inlineFiles(manifests []json.RawMessage, lim limits) ([]file, error) {
	if len(manifests) == 0 {
		return nil, errors.New("no manifests")
	}
	if len(manifests) > lim.files {
		return nil, fmt.Errorf("more than %d manifests", lim.files)
	}
	files := make([]file, 0, len(manifests))
	var total int64
	for i, manifest := range manifests {
		name := fmt.Sprintf("inline/%d.json", i)
		total += int64(len(manifest))
		if err := lim.checkBytes(name, int64(len(manifest)), total); err != nil {
			return nil, err
		}
		files = append(files, file{name: name, data: manifest})
	}
	return files, nil
}
