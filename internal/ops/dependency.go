package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

const (
	// DependencyLabel is the label of a ClusterExtension that was made for the needs of another one.
	DependencyLabel = olmv1.SettingsPrefix + "dependency"
	// RequiredByKey is the annotation of such a ClusterExtension with the name of that other one.
	RequiredByKey = olmv1.SettingsPrefix + "required-by"
)

// InstalledBundle reads the bundle of a revision from its annotations. properties reads those of the bundle, which are JSON.
func InstalledBundle(r *olmv1.ClusterObjectSet, properties func(text string) ([]catalog.Property, error)) (*resolution.Installed, error) {
	var release *string
	if text, ok := r.Annotations[olmv1.BundleReleaseKey]; ok {
		release = &text
	}
	installed, err := resolution.ParseInstalled(r.Annotations[olmv1.BundleNameKey], r.Annotations[olmv1.BundleVersionKey], release)
	if err != nil {
		return nil, fmt.Errorf("read the annotations of revision %s: %w", r.Name, err)
	}
	text := r.Annotations[snapshot.PropertiesKey]
	if text == "" {
		return &installed, nil
	}
	if installed.Properties, err = properties(text); err != nil {
		return nil, fmt.Errorf("read annotation %s of revision %s: %w", snapshot.PropertiesKey, r.Name, err)
	}
	return &installed, nil
}

// Dependency is an extension that was made for the needs of another one.
type Dependency struct {
	Extension *olmv1.ClusterExtension
	// What is its bundle; nil when nothing is installed, and without content when no one knows.
	What *resolution.Installed
	// For is the extension that it was made for.
	For string
}

// Heir is who needs a dependency: the extension that it was made for before all others, those that surely need it before those that may.
// It is empty when no one does. Every active revision counts: one that rolls out relies on what it needs as well. Extensions that are going do
// not count. read is InstalledBundle.
func (d Dependency) Heir(all []olmv1.ClusterObjectSet, going map[string]bool, read func(*olmv1.ClusterObjectSet) (*resolution.Installed, error)) string {
	pkg := ""
	if c := d.Extension.Spec.Source.Catalog; c != nil {
		pkg = c.PackageName
	}
	var certain, possible []string
	for i := range all {
		r := &all[i]
		name, _ := revision.ExtensionOf(r)
		if name == "" || name == d.Extension.Name || going[name] || !revision.Active(r) {
			continue
		}
		is, err := read(r)
		switch {
		case err != nil || len(is.Properties) == 0: // too many to be kept, or broken: no one knows what it needs
			possible = append(possible, name)
		case Needs(is.Properties, pkg, d.What):
			certain = append(certain, name)
		}
	}
	if slices.Contains(certain, d.For) || slices.Contains(possible, d.For) {
		return d.For
	}
	for _, names := range [][]string{certain, possible} {
		if len(names) > 0 {
			return slices.Min(names)
		}
	}
	return ""
}

// HeldData tells of the first CustomResourceDefinition of an extension with some revisions that has custom resources, or may have; empty is for none.
func HeldData(ctx context.Context, reader client.Reader, count revision.Count, all []olmv1.ClusterObjectSet) (string, error) {
	owned, err := revision.OwnedCRDs(ctx, reader, all, nil)
	if err != nil {
		return "", err
	}
	for _, name := range owned {
		if what := revision.Populated(ctx, reader, count, name); what != "" {
			return fmt.Sprintf("CustomResourceDefinition %s: %s", name, what), nil
		}
	}
	return "", nil
}

// ParseProperties reads those of a bundle.
func ParseProperties(text string) (all []catalog.Property, err error) {
	err = json.Unmarshal([]byte(text), &all)
	return all, err
}

// Needs tells whether properties may ask for a package, or for an API that its bundle has. Where that is not sure, they do: to keep what
// no one needs is better than to remove what is needed.
func Needs(properties []catalog.Property, pkg string, what *resolution.Installed) bool {
	for _, p := range properties {
		switch text := string(p.Value); p.Type {
		case catalog.PropertyPackageRequired:
			var required struct{ PackageName string }
			if json.Unmarshal(p.Value, &required) != nil || required.PackageName == pkg {
				return true
			}
		case "olm.label.required": // any bundle may have the label
			return true
		case catalog.PropertyGVKRequired, catalog.PropertyConstraint: // a rule may ask for anything
			if strings.Contains(text, `"`+pkg+`"`) || strings.Contains(text, "rule") {
				return true
			}
			// The kind of an API that the bundle provides, and its group. Properties that are too many are not kept: then no one knows.
			if what != nil && (len(what.Properties) == 0 || slices.ContainsFunc(what.Properties, func(p catalog.Property) bool {
				var api catalog.GVK
				return p.Type == catalog.PropertyGVK && json.Unmarshal(p.Value, &api) == nil &&
					strings.Contains(text, `"`+api.Kind+`"`) && strings.Contains(text, `"`+api.Group+`"`)
			})) {
				return true
			}
		}
	}
	return false
}
