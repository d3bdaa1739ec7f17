package clusterextension

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adopter adopts what was installed in another way: by a ClusterServiceVersion, or by Helm.
type adopter struct {
	*environment
	preflight *preflight
}

// adopt makes of what was rendered for the first revision what a ClusterServiceVersion runs, where the extension asks for that: Deployments
// stay as they were found, so that none is rolled out. What they are in the bundle comes with the next revision. It returns why that cannot be.
func (a *adopter) adopt(ctx context.Context, s *state, t *desired.Target, made *content) error {
	text := s.ext.Annotations[migrate.AdoptsKey]
	if text == "" || len(s.revisions) > 0 {
		return nil
	}
	if revision.Adopts(s.ext) { // what the first revision adopts is what the ClusterServiceVersion has, and nothing else
		return revision.Misconfigured(fmt.Errorf("annotations %s and %s exclude each other: remove the second one; it can be set again when what ClusterServiceVersion %s has installed is adopted",
			migrate.AdoptsKey, revision.AdoptKey, text))
	}
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace != s.ext.Spec.Namespace || name == "" {
		return revision.Misconfigured(fmt.Errorf("annotation %s is %q, which is not %s/NAME of a ClusterServiceVersion in the namespace of the extension", migrate.AdoptsKey, text, s.ext.Spec.Namespace))
	}
	if t.Name != name {
		return revision.Blocked(fmt.Errorf("annotation %s asks for what ClusterServiceVersion %s has installed, but bundle %s was chosen: set spec.source.catalog.version to the version "+
			"that is installed, or remove the annotation", migrate.AdoptsKey, text, t.Name))
	}
	owner, err := a.ownerToAdoptFrom(ctx, s.ext.Name, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	objects := make([]*unstructured.Unstructured, len(made.objects))
	for i, wanted := range made.objects {
		live := &unstructured.Unstructured{} // in the place of the object
		live.SetGroupVersionKind(wanted.GroupVersionKind())
		err := a.live.Get(ctx, client.ObjectKeyFromObject(wanted), live)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			live, err = nil, nil
		}
		if err != nil {
			return fmt.Errorf("read %s, to see whether it can be adopted: %w", migrate.RefOf(wanted), err)
		}
		if objects[i], err = migrate.Adopt(owner, wanted, live); err != nil {
			return fmt.Errorf("%w; delete it, or let the ClusterServiceVersion have it, then this continues", err)
		}
		if live != nil {
			made.found = append(made.found, wanted)
		}
	}
	made.objects, made.adopted = objects, text
	condition := &v2.OperatorCondition{}
	err = a.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, condition)
	switch {
	case err == nil:
		made.conditionName = name // which the pods have in their environment
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read OperatorCondition %s: %w", text, err)
	}
	return nil
}

// ownerToAdoptFrom reads a ClusterServiceVersion that agrees that an extension takes its objects over: with an annotation of its Subscription,
// since a user who may write a ClusterExtension need not be allowed to take operators from others.
func (a *adopter) ownerToAdoptFrom(ctx context.Context, extension string, key client.ObjectKey) (migrate.Owner, error) {
	failed := func(what string, err error) (migrate.Owner, error) {
		return migrate.Owner{}, fmt.Errorf("read %s, to take ClusterServiceVersion %s over: %w", what, key, err)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	err := a.live.Get(ctx, key, csv)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) || err == nil && (csv.IsCopied() || csv.DeletionTimestamp != nil) {
		return migrate.Owner{}, fmt.Errorf("annotation %s asks for what ClusterServiceVersion %s has installed, and there is none, or only a copy, or it is being deleted: remove the annotation", migrate.AdoptsKey, key)
	}
	if err != nil {
		return failed("it", err)
	}
	var subs v1alpha1.SubscriptionList
	if err := a.live.List(ctx, &subs, client.InNamespace(key.Namespace)); err != nil {
		return failed("the Subscriptions of its namespace", err)
	}
	if !slices.ContainsFunc(subs.Items, func(sub v1alpha1.Subscription) bool {
		return sub.Status.InstalledCSV == key.Name && sub.Annotations[migrate.MigratingKey] == extension
	}) {
		return migrate.Owner{}, fmt.Errorf("annotation %s asks for what ClusterServiceVersion %s has installed, and no Subscription that has installed it agrees with the annotation %s: %s: "+
			"fairlead migrate sets both, and keeps the Subscription from upgrading meanwhile", migrate.AdoptsKey, key, migrate.MigratingKey, extension)
	}
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		return failed("the others", err)
	}
	var all v1alpha1.ClusterServiceVersionList
	if err := a.live.List(ctx, &all, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*originals)}); err != nil {
		return failed("the others", err)
	}
	all.Items = slices.DeleteFunc(all.Items, func(o v1alpha1.ClusterServiceVersion) bool { return o.IsCopied() || o.UID == csv.UID })
	return migrate.OwnerOf(csv, all.Items), nil
}
