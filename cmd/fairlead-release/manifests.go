package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"fairlead.dev/fairlead/internal/content/image"
)

// makeManifests writes what the released fairlead prints: the manifests that it would apply itself.
func (o Options) makeManifests(ctx context.Context, pinned string) error {
	if len(o.Programs) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "fairlead-release-")
	if err != nil {
		return fmt.Errorf("make %s: %w", ManifestsFile, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, filepath.Base(o.Programs[0]))
	if err := o.build(ctx, o.Programs[0], runtime.GOOS+"/"+runtime.GOARCH, pinned, program); err != nil {
		return fmt.Errorf("make %s: %w", ManifestsFile, err)
	}
	printed, err := exec.CommandContext(ctx, program, "system", "install", "--dry-run").Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
		}
		return fmt.Errorf("make %s: run %s system install --dry-run: %w", ManifestsFile, filepath.Base(program), err)
	}
	return os.WriteFile(filepath.Join(o.Out, ManifestsFile), printed, 0o644)
}

// Lines of the chart that a release sets.
var (
	chartVersion    = regexp.MustCompile(`(?m)^version: .*$`)
	chartAppVersion = regexp.MustCompile(`(?m)^appVersion: .*$`)
	imageRepository = regexp.MustCompile(`(?m)^  repository: fairlead-manager$`)
	imageTag        = regexp.MustCompile(`(?m)^  tag: latest$`)
	imageDigest     = regexp.MustCompile(`(?m)^  digest: ""$`)
)

// makeChart packs the Helm chart with the version of the release and the digest of the image, as helm package does.
func (o Options) makeChart(made Release) error {
	const dir = "config/chart"
	version := strings.TrimPrefix(o.Version, "v")
	repository, tag := repositoryAndTag(o.Image)
	changes := map[string]map[*regexp.Regexp]string{
		"Chart.yaml":  {chartVersion: "version: " + version, chartAppVersion: `appVersion: "` + version + `"`},
		"values.yaml": {imageRepository: "  repository: " + repository, imageTag: fmt.Sprintf("  tag: %q", tag), imageDigest: `  digest: "` + made.ImageDigest + `"`},
	}
	var all []packed
	root := os.DirFS(filepath.Join(o.Source, filepath.FromSlash(dir)))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for line, with := range changes[name] {
			if found := line.FindAll(text, -1); len(found) != 1 {
				return fmt.Errorf("%s has %d lines like %s, and one is to be set", name, len(found), line)
			}
			text = line.ReplaceAllLiteral(text, []byte(with))
		}
		all = append(all, packed{name: path.Join("fairlead", name), mode: 0o644, data: text})
		return nil
	})
	if err == nil {
		err = writeTarball(filepath.Join(o.Out, "fairlead-"+version+".tgz"), all, o.Time)
	}
	if err != nil {
		return fmt.Errorf("pack the chart in %s: %w", dir, err)
	}
	return nil
}

// repositoryAndTag are the parts of a tag.
func repositoryAndTag(ref string) (repository, tag string) {
	repository, _, _ = strings.Cut(image.Pin(ref, ""), "@")
	return repository, strings.TrimPrefix(strings.TrimPrefix(ref, repository), ":")
}
