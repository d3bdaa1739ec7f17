package clusterextension

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fromHelm makes the first revision of an extension that another implementation of this API has installed by way of Helm: of what is deployed,
// which counts as installed from then on. The Secrets with the releases stay. It reports whether there is something to wait for: the revision,
// as soon as it is observed, is what everything else is decided from.
func (a *adopter) fromHelm(ctx context.Context, s *state, o *outcome) (waits bool, _ error) {
	if len(s.revisions) == 1 {
		// A pass that made a revision from a Helm release may not have got to say that it is installed.
		r := &s.revisions[0]
		if r.Labels[olmv1.MigratedFromHelmKey] == "true" && r.Spec.Revision == 1 && revision.Active(r) && !meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded) {
			return true, a.countAsInstalled(ctx, s.ext, r)
		}
	}
	if len(s.revisions) > 0 || s.ext.Annotations[migrate.AdoptsKey] != "" {
		return false, nil
	}
	secrets, err := a.releases(ctx, s.ext)
	if err != nil {
		return false, err
	}
	release, err := migrate.Deployed(secrets)
	if err != nil || release == nil {
		o.problem = err // that there may be something must not be taken for that there is nothing
		return err != nil, nil
	}
	// A release of what the extension does not ask for was another one's of the name. What an extension asks for cannot be changed in this respect.
	of := release.Note(olmv1.PackageNameKey)
	if of != "" && of != packageOf(s.ext) || release.Namespace != "" && release.Namespace != s.ext.Spec.Namespace {
		return false, nil
	}
	built, change, err := a.revisionOf(s.ext, release)
	if err != nil {
		o.problem = revision.Blocked(err)
		o.soonest(recheck) // no event tells that a person has deleted the Secret
		return true, nil
	}
	if o.problem = a.preflight.checks().Namespace(ctx, s.ext); o.problem == nil {
		o.problem = a.preflight.check(ctx, s, change, o)
	}
	if o.problem != nil {
		return true, nil
	}
	if err := revision.Write(ctx, a.client, built); err != nil {
		return true, err
	}
	o.made = built.Set
	reconcile.Log(ctx, s.ext).Info("revision written", "revision", built.Set.Name, "bundle", built.Set.Annotations[olmv1.BundleNameKey], "reason", "a Helm release is adopted")
	return true, a.countAsInstalled(ctx, s.ext, built.Set)
}

// revisionOf is the first revision of an extension, which adopts what a release has, no matter who it belongs to: the other implementation made
// the extension itself the controller of the objects.
func (a *adopter) revisionOf(ext *olmv1.ClusterExtension, release *migrate.HelmRelease) (*revision.Revision, revision.Change, error) {
	objects, err := release.Objects()
	if err != nil {
		return nil, revision.Change{}, err
	}
	notes := map[string]string{}
	for _, key := range []string{olmv1.PackageNameKey, olmv1.BundleNameKey, olmv1.BundleVersionKey, olmv1.BundleReferenceKey, olmv1.BundleReleaseKey} {
		if value := release.Note(key); value != "" {
			notes[key] = value
		}
	}
	if notes[olmv1.PackageNameKey] == "" || notes[olmv1.BundleNameKey] == "" || notes[olmv1.BundleVersionKey] == "" {
		return nil, revision.Change{}, fmt.Errorf("adopt Helm release %d of ClusterExtension %s: Secret %s/%s does not say which bundle it is of (%s, %s, %s); delete the Secret to have the extension reinstalled",
			release.Version, ext.Name, release.Secret.Namespace, release.Secret.Name, olmv1.PackageNameKey, olmv1.BundleNameKey, olmv1.BundleVersionKey)
	}
	if text := release.Chart.Metadata.Annotations[olmv1.PropertiesKey]; text != "" && len(text) <= desired.MaxProperties {
		notes[olmv1.PropertiesKey] = text
	}
	change := revision.Change{Extension: ext, Objects: objects,
		Bundle: revision.Bundle{Name: notes[olmv1.BundleNameKey], Version: notes[olmv1.BundleVersionKey], Image: notes[olmv1.BundleReferenceKey]}}
	built, err := revision.Build(revision.Options{
		Extension: revision.Extension{Name: ext.Name, UID: ext.UID, Namespace: ext.Spec.Namespace}, Number: 1, SystemNamespace: a.SystemNamespace,
		Objects: objects, Annotations: notes, Labels: map[string]string{olmv1.MigratedFromHelmKey: "true"},
		CollisionProtection: olmv1.CollisionProtectionNone, ServiceAccount: revision.AccountOf(ext), ProgressDeadlineMinutes: revision.ProgressDeadlineMinutes(ext),
	})
	return built, change, err
}

// countAsInstalled says of a revision that it was rolled out, by the one who did that. The releases have had their time then.
func (a *adopter) countAsInstalled(ctx context.Context, ext *olmv1.ClusterExtension, r *olmv1.ClusterObjectSet) error {
	// Note on the releases of an extension that its first revision was made of them. They stay, for those who want to see them.
	secrets, err := a.releases(ctx, ext)
	if err != nil {
		return err
	}
	for i := range secrets {
		s := &secrets[i]
		before := s.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.ObjectMeta, takenOverKey, string(ext.UID))
		if err := client.IgnoreNotFound(a.client.Patch(ctx, s, client.MergeFrom(before), fieldOwner)); err != nil {
			return fmt.Errorf("note on Secret %s/%s that ClusterExtension %s has adopted the release in it: %w", s.Namespace, s.Name, ext.Name, err)
		}
	}
	live := &olmv1.ClusterObjectSet{}
	if err := a.live.Get(ctx, client.ObjectKeyFromObject(r), live); err != nil {
		return fmt.Errorf("read revision %s, which was made from a Helm release: %w", r.Name, err)
	}
	before := live.DeepCopy()
	olmv1.SetCondition(&live.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, metav1.ConditionTrue, olmv1.ReasonSucceeded, "It was installed by Helm."),
		live.Generation, metav1.Time{Time: a.Clock.Now()})
	if err := a.client.Status().Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner); err != nil {
		return fmt.Errorf("say of revision %s, which was made from a Helm release, that it is installed: %w", r.Name, err)
	}
	return nil
}

// releases are the Secrets with Helm releases of an extension, without those of which something has become already.
func (a *adopter) releases(ctx context.Context, ext *olmv1.ClusterExtension) ([]corev1.Secret, error) {
	var list corev1.SecretList
	if err := a.live.List(ctx, &list, client.InNamespace(a.SystemNamespace), client.MatchingLabels(migrate.HelmLabels(ext.Name))); err != nil {
		return nil, fmt.Errorf("look for Helm releases of ClusterExtension %s: %w", ext.Name, err)
	}
	return slices.DeleteFunc(list.Items, func(s corev1.Secret) bool {
		own := slices.ContainsFunc(s.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == ext.UID })
		// It may be of an extension that had the name before: it belongs to that, or to none and is older than this one.
		before := !own && (slices.ContainsFunc(s.OwnerReferences, revision.IsExtension) || s.CreationTimestamp.Before(&ext.CreationTimestamp))
		return s.Annotations[takenOverKey] != "" || before
	}), nil
}
