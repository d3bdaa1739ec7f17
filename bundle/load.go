package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Load reads a bundle: the metadata in the directory metadata, and the manifests in the directory that the metadata
// names. Content that cannot be installed is an error, with the name of the file; what is merely passed over is a warning.
func Load(fsys fs.FS) (*Bundle, error) {
	in := Inspect(fsys)
	if err := in.err(); err != nil {
		return nil, fmt.Errorf("load bundle: %w", err)
	}
	return in.Bundle, nil
}

// FromManifests makes a bundle of the manifests that a catalog holds inline, which know nothing of package and channels.
func FromManifests(manifests []json.RawMessage) (*Bundle, error) {
	in := InspectManifests(manifests)
	if err := in.err(); err != nil {
		return nil, fmt.Errorf("load bundle from inline manifests: %w", err)
	}
	return in.Bundle, nil
}

// Inspection is a bundle together with all that is wrong with its files. It is for those who judge bundles; Load is for
// those who need one, and refuses it for the first of the problems.
type Inspection struct {
	// Bundle is what could be read. Its CSV is nil when there is no ClusterServiceVersion, or none that could be read.
	Bundle *Bundle
	// Metadata and Manifests are the files that were read, by name.
	Metadata, Manifests []File
	// ManifestsDir is where the manifests were looked for; it is empty for inline manifests.
	ManifestsDir string
	// Ignored are the entries of that directory that Load leaves out: directories, links and hidden files.
	Ignored []string
	// Problems are why Load refuses the bundle, in the order in which it reads.
	Problems []Problem
	// Notices are what Load passes over or reads although it has another form, in the same order.
	Notices []Problem
}

// File is a file of a bundle.
type File struct {
	Name string
	Data []byte
	// Object is the manifest in the file, nil when there is none or it cannot be read.
	Object *unstructured.Unstructured
}

// Problem says what is wrong with a file, or with the whole bundle when it names none.
type Problem struct {
	File string
	Err  error
}

// What the Err of a Problem can be about, for errors.Is.
var (
	ErrNoMetadata      = errors.New("no directory of metadata")
	ErrNoManifests     = errors.New("no directory of manifests")
	ErrNoAnnotations   = errors.New("no annotations")
	ErrMediaType       = errors.New("media type not supported")
	ErrNoCSV           = errors.New("no ClusterServiceVersion")
	ErrSecondCSV       = errors.New("several ClusterServiceVersions")
	ErrCSVForm         = errors.New("ClusterServiceVersion of another form")
	ErrUnsupportedKind = errors.New("kind not supported")
	ErrNotObject       = errors.New("not a Kubernetes object") // of a notice
	ErrWrappedEntry    = errors.New("wrapped entries")         // of a notice
)

// markedError is an error that is about something for errors.Is, without saying so again.
type markedError struct {
	error
	about error
}

func (e markedError) Unwrap() []error { return []error{e.error, e.about} }

func markf(about error, format string, args ...any) error {
	return markedError{fmt.Errorf(format, args...), about}
}

// Inspect reads a bundle as Load does, and continues where that gives up.
func Inspect(fsys fs.FS) *Inspection { return inspect(fsys, defaultLimits) }

// InspectManifests reads inline manifests as FromManifests does, and continues where that gives up. The manifests get the names of files.
func InspectManifests(manifests []json.RawMessage) *Inspection {
	in := &Inspection{Bundle: &Bundle{}}
	if len(manifests) == 0 {
		in.fail("", errors.New("no manifests"))
		return in
	}
	if len(manifests) > defaultLimits.files {
		in.fail("", fmt.Errorf("more than %d manifests", defaultLimits.files))
		return in
	}
	files := make([]file, 0, len(manifests))
	var total int64
	for i, manifest := range manifests {
		name := fmt.Sprintf("inline/%d.json", i)
		total += int64(len(manifest))
		if err := defaultLimits.checkBytes(name, int64(len(manifest)), total); err != nil {
			in.fail("", err)
			return in
		}
		files = append(files, file{name: name, data: manifest})
	}
	in.readManifests(files, defaultLimits)
	return in
}

func inspect(fsys fs.FS, lim limits) *Inspection {
	in := &Inspection{Bundle: &Bundle{}, ManifestsDir: defaultManifestsDir}
	r := &reader{fsys: fsys, lim: lim}
	if !in.readMetadata(r) {
		return in
	}
	files, ok := in.listFiles(r, in.ManifestsDir, ErrNoManifests)
	if ok && len(files) == 0 {
		in.fail("", markf(ErrNoCSV, "read manifests: no files in %s", in.ManifestsDir))
		return in
	}
	if ok {
		in.readManifests(files, lim)
	}
	return in
}

// err is the first problem.
func (in *Inspection) err() error {
	if len(in.Problems) == 0 {
		return nil
	}
	first := in.Problems[0]
	if first.File == "" {
		return first.Err
	}
	return fmt.Errorf("read %s: %w", first.File, first.Err)
}

func (in *Inspection) fail(file string, err error) {
	in.Problems = append(in.Problems, Problem{File: file, Err: err})
}

// notice keeps what is no reason to refuse the bundle, and is also a warning of it.
func (in *Inspection) notice(file string, err error) {
	in.Notices = append(in.Notices, Problem{File: file, Err: err})
	text := err.Error()
	if file != "" {
		text = file + ": " + text
	}
	in.Bundle.Warnings = append(in.Bundle.Warnings, text)
}
