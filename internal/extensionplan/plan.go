package extensionplan

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/columns"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Version is a bundle.
type Version struct {
	Bundle  string `json:"bundle"`
	Version string `json:"version"`
	Image   string `json:"image,omitempty"`
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
	Notes   []string `json:"notes,omitempty"`
}

// Changes tells whether anything would be written.
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

func nameOf(u *unstructured.Unstructured) string {
	if u.GetNamespace() == "" {
		return u.GetKind() + " " + u.GetName()
	}
	return u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
}

// byName is the content of objects, without what revisions add to them, and without what is trusted, which is renewed all the time.
func byName(all []*unstructured.Unstructured) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, u := range all {
		var content map[string]any
		text, err := json.Marshal(u.Object) // so that numbers are compared as numbers, whatever their Go types
		if err == nil {
			err = json.Unmarshal(text, &content)
		}
		if err != nil {
			panic("objects that were read as JSON always encode: " + err.Error())
		}
		o := &unstructured.Unstructured{Object: content}
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		for _, key := range []string{olmv1.OwnerKindKey, olmv1.OwnerNameKey} {
			delete(labels, key)
		}
		for _, key := range []string{olmv1.BundleVersionKey, olmv1.PackageNameKey} {
			delete(annotations, key)
		}
		if o.SetLabels(labels); len(labels) == 0 {
			o.SetLabels(nil)
		}
		if o.SetAnnotations(annotations); len(annotations) == 0 {
			o.SetAnnotations(nil)
		}
		unstructured.RemoveNestedField(content, "status")
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		withoutTrust(content)
		out[nameOf(u)] = content
	}
	return out
}

// withoutTrust takes authorities away, wherever they are.
func withoutTrust(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "caBundle")
		for _, inner := range v {
			withoutTrust(inner)
		}
	case []any:
		for _, inner := range v {
			withoutTrust(inner)
		}
	}
}

// maxFields is how many fields of an object are named.
const maxFields = 20

// differences are the paths of the fields that differ.
func differences(path string, before, after any) []string {
	a, isA := before.(map[string]any)
	b, isB := after.(map[string]any)
	if !isA || !isB {
		one, _ := json.Marshal(before) // read as JSON, they encode
		other, _ := json.Marshal(after)
		if string(one) == string(other) {
			return nil
		}
		return []string{path}
	}
	keys := map[string]bool{}
	for key := range a {
		keys[key] = true
	}
	for key := range b {
		keys[key] = true
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, differences(path+"."+key, a[key], b[key])...)
		if len(all) > maxFields {
			return append(all[:maxFields], "…")
		}
	}
	return all
}

// images are those of all containers.
func images(all []*unstructured.Unstructured) map[string]bool {
	out := map[string]bool{}
	for _, u := range all {
		for _, field := range []string{"containers", "initContainers"} {
			containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", field)
			for _, c := range containers {
				if image, ok := c.(map[string]any)["image"].(string); ok && image != "" {
					out[image] = true
				}
			}
		}
	}
	return out
}

// Write prints the plan for people.
func (p *Plan) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ClusterExtension %s: %s\n", columns.Clean(p.Extension), p.step())
	section := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:\n", title)
		for _, text := range lines {
			for line := range strings.Lines(text) {
				fmt.Fprintf(&b, "  %s\n", strings.TrimRight(columns.Clean(strings.TrimSuffix(line, "\n")), " "))
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
		definitions = append(definitions, text)
	}
	section("added", p.Added)
	section("changed", changed)
	section("removed", p.Removed)
	section("CustomResourceDefinitions", definitions)
	if p.Permissions != "" {
		section("permissions that come in addition", []string{p.Permissions})
	}
	section("images that come", p.ImagesAdded)
	section("images that go", p.ImagesRemoved)
	section("notes", p.Notes)
	section("in the way, so that nothing would be written", p.Blocked)
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Plan) step() string {
	name := func(v Version) string { return columns.Clean(v.Bundle) }
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
