package plan

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Version is a bundle.
type Version struct {
	Bundle  string `json:"bundle"`
	Version string `json:"version"`
	Image   string `json:"image,omitempty"`
	// Signature is why the signature policy let an installed bundle be used, such as who signed it; empty where there was none.
	Signature string `json:"signature,omitempty"`
}

// Verdicts on CustomResourceDefinitions.
const (
	New       = "new"
	Safe      = "safe"
	Unsafe    = "unsafe"
	Unchecked = "unchecked"
)

// CRD is a CustomResourceDefinition, and whether the step to its new form is safe.
type CRD struct {
	Name     string   `json:"name"`
	Verdict  string   `json:"verdict"`
	Findings []string `json:"findings,omitempty"`
	// Rewrites describes which stored objects would be rewritten before.
	Rewrites string `json:"rewrites,omitempty"`
}

// Changed is an object that changes, and the fields that do.
type Changed struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
}

// Plan is what would change.
type Plan struct {
	Extension string  `json:"extension"`
	Installed Version `json:"installed,omitzero"`
	Wanted    Version `json:"wanted,omitzero"`
	// Signature is what the manager reports of signatures, and SignatureVerified the status of that condition; both are empty without a policy.
	Signature         string                 `json:"signature,omitempty"`
	SignatureVerified metav1.ConditionStatus `json:"signatureVerified,omitempty"`

	Added   []string  `json:"added,omitempty"`
	Changed []Changed `json:"changed,omitempty"`
	Removed []string  `json:"removed,omitempty"`
	CRDs    []CRD     `json:"crds,omitempty"`
	// Permissions are those that come in addition, as text.
	Permissions string `json:"permissions,omitempty"`
	// ImagesAdded and ImagesRemoved are those of containers.
	ImagesAdded   []string `json:"imagesAdded,omitempty"`
	ImagesRemoved []string `json:"imagesRemoved,omitempty"`
	// Blocked are the reasons why nothing would be written.
	Blocked []string `json:"blocked,omitempty"`
	// MissingRoles are Roles, ClusterRoles and bindings, as YAML that can be applied, that give the service account what it lacks.
	MissingRoles string   `json:"missingRoles,omitempty"`
	Notes        []string `json:"notes,omitempty"`
}

// Changes reports whether anything would be written.
func (p *Plan) Changes() bool { return len(p.Added)+len(p.Changed)+len(p.Removed) > 0 }

// compare lists what differs. What every revision writes anew does not count.
func (p *Plan) compare(now, wanted []*unstructured.Unstructured) {
	is, will := byName(now), byName(wanted)
	for _, name := range slices.Sorted(maps.Keys(will)) {
		there, ok := is[name]
		if !ok {
			p.Added = append(p.Added, name)
			continue
		}
		if fields := differences("", there, will[name]); len(fields) > 0 {
			p.Changed = append(p.Changed, Changed{Name: name, Fields: fields})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := will[name]; !ok {
			p.Removed = append(p.Removed, name)
		}
	}
	before, after := images(now), images(wanted)
	for _, image := range slices.Sorted(maps.Keys(after)) {
		if !before[image] {
			p.ImagesAdded = append(p.ImagesAdded, image)
		}
	}
	for _, image := range slices.Sorted(maps.Keys(before)) {
		if !after[image] {
			p.ImagesRemoved = append(p.ImagesRemoved, image)
		}
	}
}
