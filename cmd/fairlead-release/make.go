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
)

// Options describe a release.
type Options struct {
	// Source is the root of the repository, and Package the program in it.
	Source, Package string
	// Arch is the architecture of the image, as Go names it.
	Arch string
	// CACertificates is a PEM file with the CA certificates that the program trusts, such as that of the Debian package ca-certificates.
	CACertificates string
	// Out is a directory to write to, which is empty or does not exist.
	Out string
	// Commit is the git commit of the sources, and Time when it was made; the time is that of everything that carries one.
	Commit string
	Time   time.Time
}

// Files that Make writes to Options.Out, beside the program.
const (
	LayoutDir      = "image"
	SBOMFile       = "sbom.spdx.json"
	ProvenanceFile = "provenance.intoto.json"
)

// Release is what was made.
type Release struct {
	Program string `json:"program"`
	// ProgramDigest and ImageDigest are sha256:HEX; that of the image is of its manifest.
	ProgramDigest string `json:"programDigest"`
	ImageDigest   string `json:"imageDigest"`
	// Image is the reference with digest of the image that was pushed; empty when none was.
	Image string `json:"image,omitempty"`
}

// flags are those of go build. Paths, version control and the build ID of the machine would differ from build to build.
var flags = []string{"-trimpath", "-buildvcs=false", "-tags=grpcnotrace", "-ldflags=-s -w -buildid="}

// environment is what decides on the program besides the flags.
func (o Options) environment() []string {
	return []string{"CGO_ENABLED=0", "GOOS=linux", "GOARCH=" + o.Arch, "GOFLAGS=-mod=readonly", "GOTOOLCHAIN=local", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0"}
}

// Make builds the program and writes everything to Out.
func Make(ctx context.Context, o Options) (Release, error) {
	if entries, err := os.ReadDir(o.Out); err == nil && len(entries) > 0 {
		return Release{}, fmt.Errorf("write the release to %s: the directory is not empty; name another one", o.Out)
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return Release{}, fmt.Errorf("write the release: %w", err)
	}
	name := filepath.Base(o.Package)
	program := filepath.Join(o.Out, name)
	if err := o.build(ctx, program); err != nil {
		return Release{}, err
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return Release{}, fmt.Errorf("read the program that was built: %w", err)
	}
	authorities, err := os.ReadFile(o.CACertificates)
	if err != nil {
		return Release{}, fmt.Errorf("read the CA certificates of the image: %w; name a PEM file, such as that of the Debian package ca-certificates", err)
	}
	if !bytes.Contains(authorities, []byte("-----BEGIN CERTIFICATE-----")) {
		return Release{}, fmt.Errorf("read the CA certificates of the image: %s holds no certificate in PEM", o.CACertificates)
	}
	digest, err := writeImage(filepath.Join(o.Out, LayoutDir), contents(name, binary, authorities), o, name)
	if err != nil {
		return Release{}, err
	}
	made := Release{Program: name, ProgramDigest: "sha256:" + sum(binary), ImageDigest: digest}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return Release{}, fmt.Errorf("read the modules of %s: %w", program, err)
	}
	return made, errors.Join(
		writeJSON(filepath.Join(o.Out, SBOMFile), newSBOM(info, name, made.ProgramDigest, o.Time)),
		writeJSON(filepath.Join(o.Out, ProvenanceFile), newStatement(made, info.GoVersion, sum(authorities), o)))
}

// build builds the program.
func (o Options) build(ctx context.Context, program string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	args := append(append([]string{"build"}, flags...), "-o", program, "./"+filepath.ToSlash(o.Package))
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = o.Source
	command.Env = append(os.Environ(), o.environment()...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w: %s", o.Package, err, strings.TrimSpace(string(out)))
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

// Types of the statement. The build type is described in docs/releasing.md.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "https://fairlead.dev/build/release/v1"
	builderID     = "https://fairlead.dev/build/fairlead-release"
)

// statement is an in-toto statement with a SLSA provenance predicate. Publish signs it.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

type provenance struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string            `json:"buildType"`
	ExternalParameters   map[string]string `json:"externalParameters"`
	InternalParameters   parameters        `json:"internalParameters"`
	ResolvedDependencies []resource        `json:"resolvedDependencies"`
}

type parameters struct {
	Go          string   `json:"go"`
	Flags       []string `json:"flags"`
	Environment []string `json:"environment"`
}

type runDetails struct {
	Builder struct {
		ID string `json:"id"`
	} `json:"builder"`
}

// newStatement tells what was made from what. It holds no time of the build: two builds of the same give the same statement.
func newStatement(made Release, toolchain, authorities string, o Options) statement {
	p := provenance{BuildDefinition: buildDefinition{
		BuildType:          buildType,
		ExternalParameters: map[string]string{"package": o.Package, "arch": o.Arch},
		InternalParameters: parameters{Go: toolchain, Flags: flags, Environment: o.environment()},
		ResolvedDependencies: []resource{
			{URI: "git+https://fairlead.dev/fairlead", Digest: map[string]string{"gitCommit": o.Commit}},
			{Name: "ca-certificates.crt", Digest: map[string]string{"sha256": authorities}},
		},
	}}
	p.RunDetails.Builder.ID = builderID
	hex := func(digest string) map[string]string {
		return map[string]string{"sha256": strings.TrimPrefix(digest, "sha256:")}
	}
	return statement{Type: statementType, PredicateType: predicateType, Predicate: p,
		Subject: []resource{{Name: LayoutDir, Digest: hex(made.ImageDigest)}, {Name: made.Program, Digest: hex(made.ProgramDigest)}}}
}
