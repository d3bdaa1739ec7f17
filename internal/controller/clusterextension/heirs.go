package clusterextension

import (
	"context"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/dependents"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// eventKept tells of an extension that was made for the needs of another one and stays although nobody has them any more.
const eventKept = "DependencyKept"

// heir is who needs a dependency; empty when nobody does.
func (c *Controller) heir(ctx context.Context, s *state, d *olmv1.ClusterExtension, what *resolution.Installed, leaving bool) (string, error) {
	var all olmv1.ClusterObjectSetList
	if err := c.client.List(ctx, &all, client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind}, client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("list the revisions that may need ClusterExtension %s: %w", d.Name, err)
	}
	return dependents.Heir(dependents.Dependency{Extension: d, What: what, For: s.ext.Name}, all.Items, map[string]bool{s.ext.Name: leaving}, c.installedOf), nil
}

// dispose removes a dependency that nobody needs any more. One with custom resources stays, as what it is to the user from then on: an
// extension like any other. That nobody needs it does not say that nobody wants the data.
func (c *Controller) dispose(ctx context.Context, s *state, d *olmv1.ClusterExtension) error {
	data, err := c.data(ctx, d)
	if err != nil {
		return err
	}
	if data == "" {
		if err := client.IgnoreNotFound(c.client.Delete(ctx, d, client.Preconditions{UID: &d.UID})); err != nil {
			return fmt.Errorf("delete ClusterExtension %s, which is not needed any more: %w", d.Name, err)
		}
		c.events.Event(s.ext, corev1.EventTypeNormal, eventDependency, fmt.Sprintf("ClusterExtension %s, which was installed for the needs of this one, is removed: it is not needed any more", d.Name))
		return nil
	}
	before := d.DeepCopy()
	delete(d.Labels, dependencyLabel)
	delete(d.Annotations, requiredByKey)
	if err := client.IgnoreNotFound(c.client.Patch(ctx, d, client.MergeFrom(before), fieldOwner)); err != nil {
		return fmt.Errorf("keep ClusterExtension %s, which is not needed any more, for the custom resources that it has: %w", d.Name, err)
	}
	text := messages.Event(fmt.Sprintf("ClusterExtension %s, which was installed for the needs of %s, is needed no more, but stays: %s; to remove it with them, fairlead uninstall %[1]s with --delete-crd for each",
		d.Name, s.ext.Name, data))
	c.events.Event(s.ext, corev1.EventTypeWarning, eventKept, text)
	c.events.Event(d, corev1.EventTypeWarning, eventKept, text)
	return nil
}

// data tells of the first CustomResourceDefinition of an extension that has custom resources; empty is for none.
func (c *Controller) data(ctx context.Context, ext *olmv1.ClusterExtension) (string, error) {
	all, err := revision.List(ctx, c.client, ext.Name, ext.UID)
	if err != nil {
		return "", err
	}
	return dependents.Data(ctx, c.live, c.count, all)
}
