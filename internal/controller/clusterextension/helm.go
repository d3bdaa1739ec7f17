package clusterextension

import (
	"context"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fromHelm makes the first revision of an extension that another implementation of this API has installed by way of Helm: of what is deployed,
// which counts as installed from then on. The Secrets with the releases stay. It tells whether there is something to wait for: the revision,
// as soon as it is observed, is what everything else is decided from.
func (c *Controller) fromHelm(ctx context.Context, s *state, o *outcome) (waits bool, _ error) {
	if len(s.revisions) == 1 && unmarked(&s.revisions[0]) {
		return true, c.countAsInstalled(ctx, s.ext, &s.revisions[0])
	}
	if len(s.revisions) > 0 || s.ext.Annotations[AdoptsKey] != "" {
		return false, nil
	}
	secrets, err := c.releases(ctx, s.ext)
	if err != nil {
		return false, err
	}
	release, err := migrate.Deployed(secrets)
	if err != nil || release == nil || isOfAnother(s.ext, release) {
		o.problem = err // that there may be something must not be taken for that there is nothing
		return err != nil, nil
	}
	built, made, err := c.revisionOf(s.ext, release)
	if err != nil {
		o.problem = blocked(err)
		o.soonest(recheck) // no event tells that somebody has deleted the Secret
		return true, nil
	}
	if o.problem = c.checks().Namespace(ctx, s.ext); o.problem == nil {
		o.problem = c.preflight(ctx, s, made, o)
	}
	if o.problem != nil {
		return true, nil
	}
	if err := revision.Write(ctx, c.client, built); err != nil {
		return true, err
	}
	o.made = built.Set
	return true, c.countAsInstalled(ctx, s.ext, built.Set)
}

// unmarked tells whether a revision was made from a Helm release by a pass that did not get to say that it is installed.
func unmarked(r *olmv1.ClusterObjectSet) bool {
	return r.Labels[olmv1.MigratedFromHelmKey] == "true" && r.Spec.Revision == 1 && revision.Active(r) && !meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded)
}

// revisionOf is the first revision of an extension, which takes over what a release has, whoever it belongs to: the other implementation made
// the extension itself the controller of the objects.
func (c *Controller) revisionOf(ext *olmv1.ClusterExtension, release *migrate.HelmRelease) (*revision.Revision, *content, error) {
	objects, err := release.Objects()
	if err != nil {
		return nil, nil, err
	}
	notes := map[string]string{}
	for _, key := range []string{olmv1.PackageNameKey, olmv1.BundleNameKey, olmv1.BundleVersionKey, olmv1.BundleReferenceKey, olmv1.BundleReleaseKey} {
		if value := release.Note(key); value != "" {
			notes[key] = value
		}
	}
	if notes[olmv1.PackageNameKey] == "" || notes[olmv1.BundleNameKey] == "" || notes[olmv1.BundleVersionKey] == "" {
		return nil, nil, fmt.Errorf("adopt Helm release %d of ClusterExtension %s: Secret %s/%s does not say which bundle it is of (%s, %s, %s); delete the Secret to have the extension reinstalled",
			release.Version, ext.Name, release.Secret.Namespace, release.Secret.Name, olmv1.PackageNameKey, olmv1.BundleNameKey, olmv1.BundleVersionKey)
	}
	if text := release.Chart.Metadata.Annotations[olmv1.PropertiesKey]; text != "" && len(text) <= maxProperties {
		notes[olmv1.PropertiesKey] = text
	}
	made := &content{name: notes[olmv1.BundleNameKey], version: notes[olmv1.BundleVersionKey], image: notes[olmv1.BundleReferenceKey], objects: objects}
	built, err := revision.Build(revision.Options{
		Extension: revision.Extension{Name: ext.Name, UID: ext.UID, Namespace: ext.Spec.Namespace}, Number: 1, SystemNamespace: c.SystemNamespace,
		Objects: objects, Annotations: notes, Labels: map[string]string{olmv1.MigratedFromHelmKey: "true"},
		CollisionProtection: olmv1.CollisionProtectionNone, ServiceAccount: revision.AccountOf(ext), ProgressDeadlineMinutes: revision.ProgressDeadlineMinutes(ext),
	})
	return built, made, err
}

// countAsInstalled says of a revision that it was rolled out, by whoever did that. The releases have had their time then.
func (c *Controller) countAsInstalled(ctx context.Context, ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) error {
	if err := c.retireReleases(ctx, ext); err != nil {
		return err
	}
	live := &olmv1.ClusterObjectSet{}
	if err := c.live.Get(ctx, client.ObjectKeyFromObject(r), live); err != nil {
		return fmt.Errorf("read revision %s, which was made from a Helm release: %w", r.Name, err)
	}
	before := live.DeepCopy()
	olmv1.SetCondition(&live.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, metav1.ConditionTrue, olmv1.ReasonSucceeded, "It was installed by Helm."),
		live.Generation, metav1.Time{Time: c.Clock.Now()})
	if err := c.client.Status().Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return fmt.Errorf("say of revision %s, which was made from a Helm release, that it is installed: %w", r.Name, err)
	}
	return nil
}
