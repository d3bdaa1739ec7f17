package main

import "strings"

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
