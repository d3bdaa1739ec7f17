package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
)

// Options describe a release.
type Options struct {
	// Source is the root of the repository, and Package the program of the image in it.
	Source, Package string
	// Arches are the architectures of the image, as Go names them.
	Arches []string
	// Programs are the packages that are packed for each of Platforms, which are named as in linux/amd64; none of either for the image alone.
	Programs, Platforms []string
	// CACertificates is a PEM file with the CA certificates that the program trusts, such as that of the Debian package ca-certificates.
	CACertificates string
	// Out is a directory to write to, which is empty or does not exist.
	Out string
	// Version is the semantic version of the release, with v, which its programs report.
	Version string
	// Image is the tag under which the image is published. The programs know it by its digest, and the manifests and the chart name it: without it,
	// these two are not made.
	Image string
	// Commit is the git commit of the sources, and Time when it was made; the time is that of everything that carries one.
	Commit string
	Time   time.Time
}

// Files that Make writes to Options.Out, beside programs, archives, the chart and bills of materials, whose names have versions and platforms.
const (
	LayoutDir      = "image"
	ManifestsFile  = "install.yaml"
	ProvenanceFile = "provenance.intoto.json"
	ChecksumsFile  = "checksums.txt"
	SignatureFile  = ChecksumsFile + ".sig"
)

// Release is what was made.
type Release struct {
	Version string `json:"version"`
	// ImageDigest is sha256:HEX of the index, and Images are those in it.
	ImageDigest string          `json:"imageDigest"`
	Images      []PlatformImage `json:"images"`
	// Image is the reference with digest under which the image is published; empty when that is not known.
	Image string `json:"image,omitempty"`
	// Files are the names of all others, without the signature.
	Files []string `json:"files"`
}

// PlatformImage is the image of one platform.
type PlatformImage struct {
	Platform string `json:"platform"`
	// Digest is that of the manifest, and Program that of the program in it: sha256:HEX.
	Digest  string `json:"digest"`
	Program string `json:"program"`
	// Size is what a node downloads, in bytes.
	Size int64 `json:"size"`
}

// variables of the programs that a release sets.
const (
	versionVariable = "fairlead.dev/fairlead/internal/cli/command.releasedVersion"
	imageVariable   = "fairlead.dev/fairlead/internal/cli.releasedImage"
)

// flags are those of go build for a program that knows an image; none if it is empty. Paths, version control and the build ID of the machine would differ
// from build to build.
func (o Options) flags(image string) []string {
	link := "-s -w -buildid= -X " + versionVariable + "=" + o.Version
	if image != "" {
		link += " -X " + imageVariable + "=" + image
	}
	return []string{"-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-ldflags=" + link}
}

// environment is what decides on a program besides its flags and its platform.
var environment = []string{"CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0"}

// Make builds everything and writes it to Out.
func Make(ctx context.Context, o Options) (Release, error) {
	if err := o.check(); err != nil {
		return Release{}, err
	}
	bundle, err := os.ReadFile(o.CACertificates)
	if err != nil {
		return Release{}, fmt.Errorf("read the CA certificates of the image: %w; name a PEM file, such as that of the Debian package ca-certificates", err)
	}
	if !bytes.Contains(bundle, []byte("-----BEGIN CERTIFICATE-----")) {
		return Release{}, fmt.Errorf("read the CA certificates of the image: %s holds no certificate in PEM", o.CACertificates)
	}
	made := Release{Version: o.Version}
	toolchain, err := o.makeImages(ctx, bundle, &made)
	if err != nil {
		return Release{}, err
	}
	if o.Image != "" {
		made.Image = image.Pin(o.Image, made.ImageDigest)
	}
	if err := o.makeArchives(ctx, made.Image); err != nil {
		return Release{}, err
	}
	if made.Image != "" {
		if err := errors.Join(o.makeManifests(ctx, made.Image), o.makeChart(made)); err != nil {
			return Release{}, err
		}
	}
	sums, err := checksums(o.Out)
	if err != nil {
		return Release{}, err
	}
	if err := writeJSON(filepath.Join(o.Out, ProvenanceFile), newStatement(made, sums, toolchain, sum(bundle), o)); err != nil {
		return Release{}, err
	}
	made.Files, err = writeChecksums(o.Out)
	return made, err
}

// check refuses what cannot be released, before anything is built or written.
func (o Options) check() error {
	if entries, err := os.ReadDir(o.Out); err == nil && len(entries) > 0 {
		return fmt.Errorf("write the release to %s: the directory is not empty; name another one", o.Out)
	}
	if len(o.Arches) == 0 {
		return errors.New("make the image: name an architecture, such as amd64")
	}
	if err := checkVersion(o.Version); err != nil {
		return err
	}
	if repository, tag := repositoryAndTag(o.Image); o.Image != "" && (repository == "" || tag == "" || strings.ContainsAny(tag, "@/")) {
		return fmt.Errorf("publish the image as %q: name a tag, such as registry.example.com/fairlead-manager:v1.2.3", o.Image)
	}
	for _, platform := range o.Platforms {
		if system, arch, ok := strings.Cut(platform, "/"); !ok || system == "" || arch == "" {
			return fmt.Errorf("pack programs for platform %q: name it as linux/amd64", platform)
		}
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("write the release: %w", err)
	}
	return nil
}

// makeImages builds the program for each architecture, and the image of all of them. It returns the version of Go.
func (o Options) makeImages(ctx context.Context, bundle []byte, made *Release) (toolchain string, _ error) {
	name := filepath.Base(o.Package)
	var content []platformContent
	for _, arch := range o.Arches {
		platform := "linux/" + arch
		file := filepath.Join(o.Out, strings.Join([]string{name, "linux", arch}, "_"))
		program, goVersion, err := o.makeProgram(ctx, o.Package, platform, "", file)
		if err != nil {
			return "", err
		}
		toolchain = goVersion
		content = append(content, platformContent{arch, contents(name, program, bundle)})
		made.Images = append(made.Images, PlatformImage{Platform: platform, Program: "sha256:" + sum(program)})
	}
	return toolchain, writeImages(filepath.Join(o.Out, LayoutDir), content, o, name, made)
}

// makeProgram builds a program for a platform, writes the bill of materials beside it, and returns it with the version of Go.
func (o Options) makeProgram(ctx context.Context, pkg, platform, image, file string) (program []byte, toolchain string, _ error) {
	if err := o.build(ctx, pkg, platform, image, file); err != nil {
		return nil, "", err
	}
	program, err := os.ReadFile(file)
	if err != nil {
		return nil, "", fmt.Errorf("read the program that was built: %w", err)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, "", fmt.Errorf("read the modules of %s: %w", file, err)
	}
	document := newSBOM(info, filepath.Base(pkg), platform, o.Version, sum(program), o.Time)
	return program, info.GoVersion, writeJSON(strings.TrimSuffix(file, ".exe")+".spdx.json", document)
}

// build builds a program.
func (o Options) build(ctx context.Context, pkg, platform, image, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	system, arch, _ := strings.Cut(platform, "/")
	args := append(append([]string{"build"}, o.flags(image)...), "-o", file, "./"+filepath.ToSlash(pkg))
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = o.Source
	command.Env = append(append(os.Environ(), environment...), "GOOS="+system, "GOARCH="+arch)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s for %s: %w: %s", pkg, platform, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

func writeJSON(file string, content any) error {
	text, err := json.MarshalIndent(content, "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return nil
}
