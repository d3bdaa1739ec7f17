package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// releases are the Secrets with Helm releases of an extension, without those of which something has become already.
func (c *Controller) releases(ctx context.Context, ext *olmv1.ClusterExtension) ([]corev1.Secret, error) {
	var list corev1.SecretList
	if err := c.live.List(ctx, &list, client.InNamespace(c.SystemNamespace), client.MatchingLabels(migrate.HelmLabels(ext.Name))); err != nil {
		return nil, fmt.Errorf("look for Helm releases of ClusterExtension %s: %w", ext.Name, err)
	}
	return slices.DeleteFunc(list.Items, func(s corev1.Secret) bool { return s.Annotations[takenOverKey] != "" || outlives(&s, ext) }), nil
}

// outlives tells whether a Secret is of an extension that had the name before: it belongs to that, or to none and is older than this one.
func outlives(s *corev1.Secret, ext *olmv1.ClusterExtension) bool {
	others := false
	for _, r := range s.OwnerReferences {
		if r.UID == ext.UID {
			return false
		}
		others = others || revision.IsExtension(r)
	}
	return others || s.CreationTimestamp.Before(&ext.CreationTimestamp)
}

// isOfAnother tells whether a release is of what the extension does not ask for: it was another one's of the name. What an extension asks for
// cannot be changed in this respect.
func isOfAnother(ext *olmv1.ClusterExtension, release *migrate.HelmRelease) bool {
	of := release.Note(olmv1.PackageNameKey)
	return of != "" && of != packageOf(ext) || release.Namespace != "" && release.Namespace != ext.Spec.Namespace
}

// retireReleases notes on the releases of an extension that its first revision was made of them. They stay, for whoever wants to look at them.
func (c *Controller) retireReleases(ctx context.Context, ext *olmv1.ClusterExtension) error {
	secrets, err := c.releases(ctx, ext)
	if err != nil {
		return err
	}
	for i := range secrets {
		s := &secrets[i]
		before := s.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, takenOverKey, string(ext.UID))
		if err := client.IgnoreNotFound(c.client.Patch(ctx, s, client.MergeFrom(before), fieldOwner)); err != nil {
			return fmt.Errorf("note on Secret %s/%s that ClusterExtension %s has adopted the release in it: %w", s.Namespace, s.Name, ext.Name, err)
		}
	}
	return nil
}
