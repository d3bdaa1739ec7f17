package clusterextension

import (
	"context"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/version"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// maxVersionText is the most that spec.source.catalog.version can have.
const maxVersionText = 64

// dependencies are the extensions that are made for the needs of others.
type dependencies struct {
	*environment
	observer *observer
}

// ensure sees to what the desired version lacks: it reports which ClusterExtensions to create or, where the user asks for that, creates them.
func (n *dependencies) ensure(ctx context.Context, s *state, o *outcome) error {
	if _, pinned := s.ext.Annotations[desired.RollbackToKey]; pinned || o.resolved == nil || len(o.resolved.Missing) == 0 {
		return nil
	}
	var all olmv1.ClusterExtensionList
	if err := n.client.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the ClusterExtensions that may be what %s needs: %w", s.ext.Name, err)
	}
	named := func(name string) *olmv1.ClusterExtension {
		if i := slices.IndexFunc(all.Items, func(e olmv1.ClusterExtension) bool { return e.Name == name }); i >= 0 {
			return &all.Items[i]
		}
		return nil
	}
	for _, m := range o.resolved.Missing {
		if i := slices.IndexFunc(all.Items, func(e olmv1.ClusterExtension) bool { return slices.Contains(m.Packages, packageOf(&e)) }); i >= 0 {
			needed := "a version"
			if m.Version != "" {
				needed = fmt.Sprintf("a version in range %q", m.Version)
			}
			o.advice = append(o.advice, fmt.Sprintf("ClusterExtension %s is for package %s; it has to have %s installed", all.Items[i].Name, packageOf(&all.Items[i]), needed))
			continue
		}
		// The extension that has what another one lacks. It goes where that one goes, and may do what that one may.
		pkg := m.Packages[0]
		name := pkg
		if named(name) != nil {
			name = olmv1.LabelValue(pkg + "-for-" + s.ext.Name) // names of objects may be longer, but those of revisions begin with it
		}
		made := &olmv1.ClusterExtension{
			TypeMeta: metav1.TypeMeta{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{dependencyLabel: "true"},
				Annotations: map[string]string{requiredByKey: s.ext.Name, InstallDependenciesKey: "true"}},
			Spec: olmv1.ClusterExtensionSpec{Namespace: s.ext.Spec.Namespace, ServiceAccount: s.ext.Spec.ServiceAccount, Source: olmv1.SourceConfig{
				SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg, Selector: s.ext.Spec.Source.Catalog.Selector}}},
		}
		if _, err := version.ParseConstraint(m.Version); m.Version != "" && err == nil && len(m.Version) <= maxVersionText {
			made.Spec.Source.Catalog.Version = m.Version
		}
		other := named(made.Name)
		switch {
		case other != nil:
			o.advice = append(o.advice, fmt.Sprintf("no ClusterExtension can be created for that: %s and %s are there for other packages; create one for package %s under another name",
				m.Packages[0], other.Name, m.Packages[0]))
		case s.ext.Annotations[InstallDependenciesKey] == "true":
			if err := n.client.Create(ctx, made, fieldOwner); err != nil {
				return fmt.Errorf("create ClusterExtension %s, which %s needs: %w", made.Name, s.ext.Name, err)
			}
			reconcile.Log(ctx, s.ext).Info("dependency created", "dependency", made.Name, "reason", "it is needed and not installed")
			o.advice = append(o.advice, fmt.Sprintf("ClusterExtension %s was created for that and is being installed", made.Name))
		default:
			// As a person would write it.
			text, err := yaml.Marshal(map[string]any{"apiVersion": made.APIVersion, "kind": made.Kind, "metadata": map[string]any{"name": made.Name}, "spec": made.Spec})
			if err != nil {
				return fmt.Errorf("write ClusterExtension %s as YAML: %w", made.Name, err)
			}
			o.advice = append(o.advice, "it can be had with this ClusterExtension, which is created by annotation "+InstallDependenciesKey+`: "true" as well:`+"\n"+strings.TrimSpace(string(text)))
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

// sweep removes the extensions that were made for the needs of one, once no one has those needs any more: also those that were never
// installed, since the one that asked for them is complete without them. Where another one has those needs, they are that one's from then on.
func (n *dependencies) sweep(ctx context.Context, s *state, leaving bool) error {
	var all olmv1.ClusterExtensionList
	if err := n.client.List(ctx, &all, client.MatchingLabels{dependencyLabel: "true"}); err != nil {
		return fmt.Errorf("list what was installed for ClusterExtension %s: %w", s.ext.Name, err)
	}
	for i := range all.Items {
		d := &all.Items[i]
		if d.Annotations[requiredByKey] != s.ext.Name || !d.DeletionTimestamp.IsZero() || d.Name == s.ext.Name {
			continue
		}
		if err := n.dismiss(ctx, s, d, leaving); err != nil {
			return err
		}
	}
	return nil
}

func (n *dependencies) dismiss(ctx context.Context, s *state, d *olmv1.ClusterExtension, leaving bool) error {
	what, err := n.observer.installedBy(ctx, d)
	if err != nil {
		return err
	}
	var all olmv1.ClusterObjectSetList
	if err := n.client.List(ctx, &all, client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the revisions that may need ClusterExtension %s: %w", d.Name, err)
	}
	heir := ops.Dependency{Extension: d, What: what, For: s.ext.Name}.Heir(all.Items, map[string]bool{s.ext.Name: leaving}, n.observer.installedOf)
	switch heir {
	case s.ext.Name:
		return nil
	case "":
		// Remove a dependency that no one needs any more. One with custom resources stays, as what it is to the user from then on: an
		// extension like any other. That no one needs it does not say that no one wants the data.
		all, err := revision.List(ctx, n.client, d.Name, d.UID)
		if err != nil {
			return err
		}
		data, err := ops.HeldData(ctx, n.live, n.count, all)
		if err != nil {
			return err
		}
		if data == "" {
			if err := client.IgnoreNotFound(n.client.Delete(ctx, d, client.Preconditions{UID: &d.UID})); err != nil {
				return fmt.Errorf("delete ClusterExtension %s, which is not needed any more: %w", d.Name, err)
			}
			reconcile.Log(ctx, s.ext).Info("dependency deleted", "dependency", d.Name, "reason", "it is not needed any more")
			n.events.Event(s.ext, corev1.EventTypeNormal, eventDependency, fmt.Sprintf("ClusterExtension %s, which was installed for the needs of this one, is removed: it is not needed any more", d.Name))
			return nil
		}
		before := d.DeepCopy()
		delete(d.Labels, dependencyLabel)
		delete(d.Annotations, requiredByKey)
		if err := client.IgnoreNotFound(n.client.Patch(ctx, d, client.MergeFrom(before), fieldOwner)); err != nil {
			return fmt.Errorf("keep ClusterExtension %s, which is not needed any more, for the custom resources that it has: %w", d.Name, err)
		}
		text := messages.Event(fmt.Sprintf("ClusterExtension %s, which was installed for the needs of %s, is needed no more, but stays: %s; to remove it with them, fairlead uninstall %[1]s with --delete-crd for each",
			d.Name, s.ext.Name, data))
		n.events.Event(s.ext, corev1.EventTypeWarning, eventKept, text)
		n.events.Event(d, corev1.EventTypeWarning, eventKept, text)
		return nil
	}
	before := d.DeepCopy()
	d.Annotations[requiredByKey] = heir
	if err := n.client.Patch(ctx, d, client.MergeFrom(before), fieldOwner); err != nil {
		return fmt.Errorf("hand ClusterExtension %s over to %s, which needs it, too: %w", d.Name, heir, err)
	}
	return nil
}

// eventKept tells of an extension that was made for the needs of another one and stays although no one has them any more.
const eventKept = "DependencyKept"
