package preview

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/messages"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PlannedVersion is a bundle.
type PlannedVersion struct {
	Bundle  string `json:"bundle"`
	Version string `json:"version"`
	Image   string `json:"image,omitempty"`
	// Signature is why the signature policy let an installed bundle be used, such as who signed it; empty where there was none.
	Signature string `json:"signature,omitempty"`
}

// Verdicts on CustomResourceDefinitions.
const (
	CRDNew       = "new"
	CRDSafe      = "safe"
	CRDUnsafe    = "unsafe"
	CRDUnchecked = "unchecked"
)

// CRD is a CustomResourceDefinition, and whether the step to its new form is safe.
type CRD struct {
	Name     string   `json:"name"`
	Verdict  string   `json:"verdict"`
	Findings []string `json:"findings,omitempty"`
	// Rewrites describes which stored objects would be rewritten before.
	Rewrites string `json:"rewrites,omitempty"`

	asked bool // the account of an OperatorGroup must itself be allowed to patch it
}

// ChangedObject is an object that changes, and the fields that do.
type ChangedObject struct {
	Name   string   `json:"name"`
	Fields []string `json:"fields"`
	// Changes are the fields as deep as they differ, with their values; More is how many there are besides.
	Changes []FieldChange `json:"changes,omitempty"`
	More    int           `json:"more,omitempty"`
}

// ExtensionPlan is what would change.
type ExtensionPlan struct {
	Extension string         `json:"extension"`
	Installed PlannedVersion `json:"installed,omitzero"`
	Wanted    PlannedVersion `json:"wanted,omitzero"`
	// Signature is what the manager reports of signatures, and SignatureVerified the status of that condition; both are empty without a policy.
	Signature         string                 `json:"signature,omitempty"`
	SignatureVerified metav1.ConditionStatus `json:"signatureVerified,omitempty"`

	Added   []string        `json:"added,omitempty"`
	Changed []ChangedObject `json:"changed,omitempty"`
	Removed []string        `json:"removed,omitempty"`
	// Totals are what becomes of all objects; nil where nothing is wanted that could be compared.
	Totals *Totals `json:"totals,omitempty"`
	CRDs   []CRD   `json:"crds,omitempty"`
	// Adopted are objects that exist, have no owner, and would get the extension as theirs.
	Adopted []string `json:"adopted,omitempty"`
	// Permissions are those that come in addition, as text.
	Permissions string `json:"permissions,omitempty"`
	// Granted are the same, each with what makes it reach far.
	Granted []Granted `json:"granted,omitempty"`
	// ImagesAdded and ImagesRemoved are those of containers.
	ImagesAdded   []string `json:"imagesAdded,omitempty"`
	ImagesRemoved []string `json:"imagesRemoved,omitempty"`
	// Blocked are the reasons why nothing would be written.
	Blocked []string `json:"blocked,omitempty"`
	// MissingRoles are Roles, ClusterRoles and bindings, as YAML that can be applied, that give the service account what it lacks.
	MissingRoles string   `json:"missingRoles,omitempty"`
	Notes        []string `json:"notes,omitempty"`

	// Values asks for the values of changed fields, rather than their paths alone.
	Values bool `json:"-"`
	// RightsExamined is true where it is known what the service account lacks. One that acts as the manager lacks nothing.
	RightsExamined bool `json:"-"`
	// Command plans the same once more.
	Command string `json:"-"`
	// ConfigSchema is the JSON schema of the configuration that the wanted bundle takes; empty where it was not read.
	ConfigSchema json.RawMessage `json:"-"`
}

// Changes reports whether anything would be written.
func (p *ExtensionPlan) Changes() bool {
	return len(p.Added)+len(p.Adopted)+len(p.Changed)+len(p.Removed) > 0
}

// compare lists what differs. What every revision writes again does not count.
func (p *ExtensionPlan) compare(now, wanted []*unstructured.Unstructured) {
	is, will := byName(now), byName(wanted)
	for _, name := range slices.Sorted(maps.Keys(will)) {
		there, ok := is[name]
		if !ok {
			p.Added = append(p.Added, name)
			continue
		}
		all := changes("", there, will[name])
		if len(all) == 0 {
			continue
		}
		object := ChangedObject{Name: name, Fields: fields(all)}
		if p.Values {
			shown := min(len(all), maxChanges)
			object.Changes, object.More = withoutSecrets(will[name], all)[:shown], len(all)-shown
		}
		p.Changed = append(p.Changed, object)
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := will[name]; !ok {
			p.Removed = append(p.Removed, name)
		}
	}
	p.Totals = &Totals{Created: len(p.Added), Changed: len(p.Changed), Deleted: len(p.Removed), Unchanged: len(will) - len(p.Added) - len(p.Changed)}
	before, after := images(now), images(wanted)
	p.ImagesAdded, p.ImagesRemoved = lacking(after, before), lacking(before, after)
}

// Write prints the plan for people.
func (p *ExtensionPlan) Write(w io.Writer) error {
	var b strings.Builder
	if p.Extension != "" { // else it is of an operator of a Subscription
		fmt.Fprintf(&b, "ClusterExtension %s: %s\n", messages.Clean(p.Extension), p.step())
	}
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, text := range lines {
			for line := range strings.Lines(text) {
				fmt.Fprintf(&b, "  %s\n", strings.TrimRight(messages.Clean(strings.TrimSuffix(line, "\n")), " "))
			}
		}
	}
	var changed, definitions []string
	for _, c := range p.Changed {
		changed = append(changed, c.Name+": "+strings.Join(c.Fields, ", "))
	}
	for _, c := range p.CRDs {
		text := c.Name + ": " + c.Verdict
		for _, f := range c.Findings {
			text += "\n  " + f
		}
		if c.Rewrites != "" {
			text += "\n  " + c.Rewrites
		}
		definitions = append(definitions, text)
	}
	section("added", p.Added)
	section("adopted, since they exist and have no other owner: the fields that the bundle sets are overwritten, custom resources stay", p.Adopted)
	if p.Values {
		p.writeValues(&b)
	} else {
		section("changed", changed)
	}
	section("removed", p.Removed)
	section("CustomResourceDefinitions", definitions)
	if p.Permissions != "" {
		section("permissions that come in addition", []string{p.Permissions})
	}
	section("images that come", p.ImagesAdded)
	section("images that go", p.ImagesRemoved)
	// Who signed what is installed, and what the manager says besides, as of a bundle that it refuses.
	var lines []string
	if p.Installed.Signature != "" {
		lines = append(lines, fmt.Sprintf("bundle %s is %s", p.Installed.Bundle, p.Installed.Signature))
	}
	if p.Signature != "" && !slices.Contains(lines, p.Signature) {
		lines = append(lines, p.Signature)
	}
	section("signatures, as the manager reports them", lines)
	section("notes", p.Notes)
	section("blocked, so nothing would be written", p.Blocked)
	if p.MissingRoles != "" {
		fmt.Fprintf(&b, "\nRoles with what the service account lacks, to be read, and granted with: %s --missing-roles | kubectl auth reconcile -f -\n", messages.Clean(p.Command))
	}
	if p.Totals != nil {
		fmt.Fprintf(&b, "\n%s\n", p.Totals)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *ExtensionPlan) step() string {
	name := func(v PlannedVersion) string { return messages.Clean(v.Bundle) }
	switch {
	case p.Wanted.Bundle == "" && p.Installed.Bundle == "":
		return "nothing can be installed"
	case p.Wanted.Bundle == "":
		return "nothing can be decided; " + name(p.Installed) + " stays"
	case p.Installed.Bundle == "":
		return "install " + name(p.Wanted)
	case p.Installed.Bundle != p.Wanted.Bundle:
		return name(p.Installed) + " -> " + name(p.Wanted)
	case p.Changes():
		return name(p.Installed) + " changes"
	}
	return name(p.Installed) + " is up to date, nothing changes"
}
