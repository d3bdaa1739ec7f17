package catalogtest

import (
	"time"

	"fairlead.dev/fairlead/catalog"
)

// API is the API through which an operator is installed.
type API string

const (
	V0 API = "v0"
	V1 API = "v1"
)

// Edge is an upgrade from a bundle to another, or an installation where From is empty; where To is empty as well, it stands for the channel itself.
type Edge struct {
	Package     string   `json:"package"`
	From        string   `json:"from,omitempty"` // the name of a bundle
	To          string   `json:"to"`
	FromVersion string   `json:"fromVersion,omitempty"`
	ToVersion   string   `json:"toVersion,omitempty"`
	Channels    []string `json:"channels,omitempty"` // those that have the edge
	// Position is where the catalog has the bundle that the edge leads to; zero where that is not known.
	Position catalog.Position `json:"position,omitzero"`
}

// Walk is a path of edges: the first is an installation, each following begins where the one before ended.
type Walk struct {
	Package string `json:"package"`
	Edges   []Edge `json:"edges"`
}

// Finding is something wrong with an upgrade.
type Finding struct {
	Rule    Rule   `json:"rule"`
	Object  string `json:"object,omitempty"` // Kind.group namespace/name, empty where it is about the bundle
	Message string `json:"message"`          // what was seen
	Remedy  string `json:"remedy"`           // what the author does
}

// Rule names what every upgrade keeps.
type Rule string

const (
	// InstallFailed: the bundle does not become ready where nothing of it was before.
	InstallFailed Rule = "install-failed"
	// UpgradeFailed: the bundle does not become ready in the place of the one before.
	UpgradeFailed Rule = "upgrade-failed"
	// NoContent: the content of the bundle cannot be had or read.
	NoContent Rule = "no-content"
	// CustomResourceLost: a custom resource is gone after the upgrade.
	CustomResourceLost Rule = "custom-resource-lost"
	// CustomResourceChanged: the upgrade changes the spec of a custom resource that its user did not change.
	CustomResourceChanged Rule = "custom-resource-changed"
	// CustomResourceUnreadable: a custom resource cannot be read in a version that its CRD serves.
	CustomResourceUnreadable Rule = "custom-resource-unreadable"
	// StoredVersionDropped: the CRD no longer has a version in which objects may be stored.
	StoredVersionDropped Rule = "stored-version-dropped"
	// SchemaNarrowed: the CRD no longer allows what it allowed.
	SchemaNarrowed Rule = "schema-narrowed"
	// DependencyMissing: nothing in the catalog provides what the bundle requires.
	DependencyMissing Rule = "dependency-missing"
	// TwoHeads: a channel has not exactly one head.
	TwoHeads Rule = "two-heads"
	// ImmutableSelector: a Deployment keeps its name and changes its selector.
	ImmutableSelector Rule = "immutable-selector"
	// WebhookCertificate: a webhook has no Deployment that could serve it with a certificate.
	WebhookCertificate Rule = "webhook-certificate"
	// ImageMissing: the registry does not have an image that the bundle names.
	ImageMissing Rule = "image-missing"
	// PermissionGrown: the bundle asks for permissions that the one before did not.
	PermissionGrown Rule = "permission-grown"
	// Orphaned: an object of the bundle before is left though the one after does not have it.
	Orphaned Rule = "orphaned"
	// RollbackFailed: the way back to the revision before is closed.
	RollbackFailed Rule = "rollback-failed"
	// ExampleRefused: the API server does not take an example of the bundle.
	ExampleRefused Rule = "example-refused"
	// UninstallLeft: an object is left after the operator is uninstalled.
	UninstallLeft Rule = "uninstall-left"
)

// Result is what was seen of an edge under an API.
type Result struct {
	API      API           `json:"api"`
	Edge     Edge          `json:"edge"`
	Took     time.Duration `json:"tookNanoseconds"`
	Findings []Finding     `json:"findings,omitempty"`
	Skipped  string        `json:"skipped,omitempty"` // why it was not tried, empty where it was
}

// Report is all of a run.
type Report struct {
	Catalog string `json:"catalog"`
	// Root is the directory that the positions of edges are below, as it was given; empty where the catalog is none.
	Root    string        `json:"root,omitempty"`
	Began   time.Time     `json:"began"`
	Took    time.Duration `json:"tookNanoseconds"`
	Results []Result      `json:"results"`
}
