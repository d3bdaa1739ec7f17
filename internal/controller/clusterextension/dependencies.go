package clusterextension

import (
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/version"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// maxVersionText is the most that spec.source.catalog.version can have.
const maxVersionText = 64

// dependencies sees to what the wanted version lacks: it says which ClusterExtensions to create or, where the user wants that, creates them.
func (c *Controller) dependencies(ctx context.Context, s *state, o *outcome) error {
	if _, pinned := s.ext.Annotations[RollbackToKey]; pinned || o.resolved == nil || len(o.resolved.Missing) == 0 {
		return nil
	}
	var all olmv1.ClusterExtensionList
	if err := c.client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the ClusterExtensions that may be what %s needs: %w", s.ext.Name, err)
	}
	for _, m := range o.resolved.Missing {
		there := forPackage(all.Items, m.Packages)
		if there != nil {
			o.advice = append(o.advice, fmt.Sprintf("ClusterExtension %s is for package %s; it has to have %s installed", there.Name, packageOf(there), inRange(m)))
			continue
		}
		made := dependency(s.ext, m, func(name string) bool { return named(all.Items, name) != nil })
		other := named(all.Items, made.Name)
		switch {
		case other != nil:
			o.advice = append(o.advice, fmt.Sprintf("no ClusterExtension can be created for that: %s and %s are there for other packages; create one for package %s under another name",
				m.Packages[0], other.Name, m.Packages[0]))
		case s.ext.Annotations[InstallDependenciesKey] == "true":
			if err := c.client.Create(ctx, made, fieldOwner); err != nil {
				return fmt.Errorf("create ClusterExtension %s, which %s needs: %w", made.Name, s.ext.Name, err)
			}
			o.advice = append(o.advice, fmt.Sprintf("ClusterExtension %s was created for that and is being installed", made.Name))
		default:
			text, err := manifestOf(made)
			if err != nil {
				return err
			}
			o.advice = append(o.advice, "it can be had with this ClusterExtension, which is created by annotation "+InstallDependenciesKey+`: "true" as well:`+"\n"+text)
		}
	}
	return nil
}

// packageOf is the package that an extension asks for.
func packageOf(ext *olmv1.ClusterExtension) string {
	if ext.Spec.Source.Catalog == nil {
		return ""
	}
	return ext.Spec.Source.Catalog.PackageName
}

func inRange(m resolution.Missing) string {
	if m.Version == "" {
		return "a version"
	}
	return fmt.Sprintf("a version in range %q", m.Version)
}

// forPackage is an extension for one of some packages.
func forPackage(all []olmv1.ClusterExtension, packages []string) *olmv1.ClusterExtension {
	for i := range all {
		if slices.Contains(packages, packageOf(&all[i])) {
			return &all[i]
		}
	}
	return nil
}

// named is the extension of a name; nil when there is none.
func named(all []olmv1.ClusterExtension, name string) *olmv1.ClusterExtension {
	if i := slices.IndexFunc(all, func(e olmv1.ClusterExtension) bool { return e.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// dependency is the extension that has what another one lacks. It goes where that one goes, and may do what that one may.
func dependency(of *olmv1.ClusterExtension, m resolution.Missing, taken func(string) bool) *olmv1.ClusterExtension {
	pkg := m.Packages[0]
	name := pkg
	if taken(name) {
		name = olmv1.LabelValue(pkg + "-for-" + of.Name) // names of objects may be longer, but those of revisions begin with it
	}
	d := &olmv1.ClusterExtension{
		TypeMeta: metav1.TypeMeta{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{dependencyLabel: "true"},
			Annotations: map[string]string{requiredByKey: of.Name, InstallDependenciesKey: "true"}},
		Spec: olmv1.ClusterExtensionSpec{Namespace: of.Spec.Namespace, ServiceAccount: of.Spec.ServiceAccount, Source: olmv1.SourceConfig{
			SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg, Selector: of.Spec.Source.Catalog.Selector}}},
	}
	if _, err := version.ParseConstraint(m.Version); m.Version != "" && err == nil && len(m.Version) <= maxVersionText {
		d.Spec.Source.Catalog.Version = m.Version
	}
	return d
}

// manifestOf is the extension as a person would write it.
func manifestOf(d *olmv1.ClusterExtension) (string, error) {
	text, err := yaml.Marshal(map[string]any{"apiVersion": d.APIVersion, "kind": d.Kind, "metadata": map[string]any{"name": d.Name}, "spec": d.Spec})
	if err != nil {
		return "", fmt.Errorf("write ClusterExtension %s as YAML: %w", d.Name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// sweep removes the extensions that were made for the needs of one, once nobody has those needs any more: also those that were never
// installed, since the one that asked for them is complete without them. Where another one has those needs, they are that one's from then on.
func (c *Controller) sweep(ctx context.Context, s *state, leaving bool) error {
	var all olmv1.ClusterExtensionList
	if err := c.client.List(ctx, &all, client.MatchingLabels{dependencyLabel: "true"}); err != nil {
		return fmt.Errorf("list what was installed for ClusterExtension %s: %w", s.ext.Name, err)
	}
	for i := range all.Items {
		d := &all.Items[i]
		if d.Annotations[requiredByKey] != s.ext.Name || !d.DeletionTimestamp.IsZero() || d.Name == s.ext.Name {
			continue
		}
		if err := c.dismiss(ctx, s, d, leaving); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) dismiss(ctx context.Context, s *state, d *olmv1.ClusterExtension, leaving bool) error {
	what, err := c.installedBy(ctx, d)
	if err != nil {
		return err
	}
	heir, err := c.heir(ctx, s, d, what, leaving)
	if err != nil {
		return err
	}
	switch heir {
	case s.ext.Name:
		return nil
	case "":
		return c.dispose(ctx, s, d)
	}
	before := d.DeepCopy()
	d.Annotations[requiredByKey] = heir
	if err := c.client.Patch(ctx, d, client.MergeFrom(before), fieldOwner); err != nil {
		return fmt.Errorf("hand ClusterExtension %s over to %s, which needs it, too: %w", d.Name, heir, err)
	}
	return nil
}
