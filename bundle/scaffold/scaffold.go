package scaffold

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fairlead.dev/fairlead/bundle"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Names of what is written.
const (
	DockerfileName = "bundle.Dockerfile"
	metadataDir    = "metadata"
	manifestsDir   = "manifests"
)

// Request says for what to make files.
type Request struct {
	// Manifests is the directory of the manifests.
	Manifests string
	// OutputDir is where the manifests are copied to, and the metadata go. When it is empty the metadata go beside the
	// manifests, which stay where they are.
	OutputDir string
	// Package, Channels and DefaultChannel go into the annotations. What is missing is inferred when the manifests
	// belong to a package-manifest directory.
	Package        string
	Channels       []string
	DefaultChannel string
	// BaseImage is what the Dockerfile begins with; empty means scratch.
	BaseImage string
	// WorkingDir is where the Dockerfile goes, and the root of what it copies. Empty means that there is none.
	WorkingDir string
	// Overwrite replaces annotations that say something else, and what Replace does. Without it they are an error.
	Overwrite bool
	// Replace replaces a Dockerfile and copies of manifests that say something else. Without it they are an error.
	Replace bool
}

// Plan is a bundle that is complete once its files are written.
type Plan struct {
	// MediaType is what the manifests are: bundle.MediaType, or that of a chart or of plain manifests.
	MediaType string
	// Annotations are all that the bundle has, those that were there already included.
	Annotations map[string]string
	// Files are what is missing or differs. What is as it should be is not among them.
	Files []File

	manifests []bundle.File
	metadata  []bundle.File
}

// File is a file to be written.
type File struct {
	Path string
	Data []byte
}

// Make plans the files of a bundle. It reads what is there and writes nothing.
func Make(ctx context.Context, r Request) (*Plan, error) {
	p, err := plan(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("generate bundle from %s: %w", r.Manifests, err)
	}
	return p, nil
}

func plan(ctx context.Context, r Request) (*Plan, error) {
	r.Manifests = filepath.Clean(r.Manifests)
	if info, err := os.Stat(r.Manifests); err != nil || !info.IsDir() {
		return nil, errors.New("there is no such directory; name the directory that holds the manifests")
	}
	files, err := bundle.ReadFiles(os.DirFS(r.Manifests), ".")
	if err != nil {
		return nil, err
	}
	p := &Plan{manifests: files}
	var ok bool
	if p.MediaType, ok = bundle.DetectMediaType(files); !ok {
		return nil, errors.New("the directory contains no yaml files; name the directory that holds the manifests")
	}
	if err := r.infer(ctx, files); err != nil {
		return nil, err
	}
	// Refuse names that no catalog can hold, or that a Dockerfile would take for something else, and tidy up the channels.
	for _, message := range validation.IsDNS1123Label(r.Package) {
		return nil, fmt.Errorf("the package cannot be called %q: %s", r.Package, message)
	}
	var channels []string
	for _, channel := range r.Channels {
		if channel = strings.TrimSpace(channel); channel != "" {
			channels = append(channels, channel)
		}
	}
	r.Channels, r.DefaultChannel = channels, strings.TrimSpace(r.DefaultChannel)
	if len(channels) == 0 {
		return nil, fmt.Errorf("the channels have no names: %w", errByHand)
	}
	if image := r.BaseImage; image != "" && !plain.MatchString(image) {
		return nil, fmt.Errorf("the base image %q has characters that mean something else in a Dockerfile; correct it", image)
	}
	root := cmp.Or(r.OutputDir, filepath.Dir(r.Manifests))
	if err := p.planMetadata(r, root); err != nil {
		return nil, err
	}
	copied := r.Manifests
	if r.OutputDir != "" {
		copied = filepath.Join(root, manifestsDir)
		for _, f := range files {
			if err := p.add(filepath.Join(copied, f.Name), f.Data, r.Overwrite || r.Replace); err != nil {
				return nil, err
			}
		}
	}
	if r.WorkingDir == "" {
		return p, nil
	}
	content, err := dockerfile(r, p.labels(), copied, filepath.Join(root, metadataDir))
	if err != nil {
		return nil, err
	}
	return p, p.add(filepath.Join(r.WorkingDir, DockerfileName), content, r.Overwrite || r.Replace)
}

// add plans a file unless it is there with the same content. What says something else is only replaced if that is asked for, and what
// is no file, such as a link to one elsewhere, never.
func (p *Plan) add(path string, data []byte, replace bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Files = append(p.Files, File{path, data})
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there already, and is no regular file; remove it", path)
	}
	old, err := os.ReadFile(path)
	switch {
	case err != nil:
		return err
	case bytes.Equal(old, data):
	case !replace:
		return fmt.Errorf("%s is there already, and says something else; remove it, or overwrite it", path)
	default:
		p.Files = append(p.Files, File{path, data})
	}
	return nil
}

// Write writes the files.
func (p *Plan) Write() error {
	for _, f := range p.Files {
		err := os.MkdirAll(filepath.Dir(f.Path), 0o755)
		if err == nil {
			err = os.WriteFile(f.Path, f.Data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("generate bundle: write %s: %w", f.Path, err)
		}
	}
	return nil
}

// Image is what the image of the bundle holds by path, and its labels, whether or not the files have been written.
func (p *Plan) Image() (files map[string][]byte, labels map[string]string) {
	files = map[string][]byte{}
	for _, f := range p.manifests {
		files[manifestsDir+"/"+f.Name] = f.Data
	}
	for _, f := range p.metadata {
		files[metadataDir+"/"+f.Name] = f.Data
	}
	return files, p.labels()
}

// labels are the annotations that every bundle has: the image carries no more.
func (p *Plan) labels() map[string]string {
	labels := map[string]string{}
	for _, key := range annotationKeys {
		if value, ok := p.Annotations[key]; ok {
			labels[key] = value
		}
	}
	return labels
}
