package main

import (
	"maps"
	"slices"
	"strings"
)

// Types of the statement. The build type is described in docs/releasing.md.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "https://fairlead.dev/build/release/v2"
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
	BuildType            string             `json:"buildType"`
	ExternalParameters   externalParameters `json:"externalParameters"`
	InternalParameters   internalParameters `json:"internalParameters"`
	ResolvedDependencies []resource         `json:"resolvedDependencies"`
}

// externalParameters are what the caller chose.
type externalParameters struct {
	Version   string   `json:"version"`
	Package   string   `json:"package"`
	Arch      []string `json:"arch"`
	Programs  []string `json:"programs,omitempty"`
	Platforms []string `json:"platforms,omitempty"`
	// Image is where the image is published, without its digest.
	Image string `json:"image,omitempty"`
}

// internalParameters are those of go build. Flags are those of the image's program; the archives' programs know the image besides.
type internalParameters struct {
	Go          string   `json:"go"`
	Flags       []string `json:"flags"`
	Environment []string `json:"environment"`
}

type runDetails struct {
	Builder struct {
		ID string `json:"id"`
	} `json:"builder"`
}

// newStatement states what was made from what. It holds no time of the build: two builds of the same give the same statement.
func newStatement(made Release, sums map[string]string, toolchain, bundle string, o Options) statement {
	p := provenance{BuildDefinition: buildDefinition{
		BuildType:          buildType,
		ExternalParameters: externalParameters{o.Version, o.Package, o.Arches, o.Programs, o.Platforms, o.Image},
		InternalParameters: internalParameters{Go: toolchain, Flags: o.flags(""), Environment: environment},
		ResolvedDependencies: []resource{
			{URI: "git+https://fairlead.dev/fairlead", Digest: map[string]string{"gitCommit": o.Commit}},
			{Name: "ca-certificates.crt", Digest: map[string]string{"sha256": bundle}},
		},
	}}
	p.RunDetails.Builder.ID = builderID
	about := func(name, digest string) resource {
		return resource{Name: name, Digest: map[string]string{"sha256": strings.TrimPrefix(digest, "sha256:")}}
	}
	subjects := []resource{about(LayoutDir, made.ImageDigest)}
	for _, image := range made.Images {
		subjects = append(subjects, about(LayoutDir+"/"+image.Platform, image.Digest))
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		subjects = append(subjects, about(name, sums[name]))
	}
	return statement{Type: statementType, PredicateType: predicateType, Predicate: p, Subject: subjects}
}
