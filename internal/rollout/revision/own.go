package revision

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// Own makes the Secrets that were written for a revision go with it: they belonged to the extension as long as the revision was not there.
// The revision becomes their controller, which clients of the API go by. Those of an attempt that was given up go at once. Secrets that others made
// are left alone. The reader must not be a cache.
func Own(ctx context.Context, live client.Reader, c client.Client, set *olmv1.ClusterObjectSet, namespace string) error {
	used := map[client.ObjectKey]bool{}
	namespaces := map[string]bool{}
	for _, p := range set.Spec.Phases {
		for _, o := range p.Objects {
			if o.Ref != nil {
				key := secretKey(*o.Ref, namespace)
				used[key], namespaces[key.Namespace] = true, true
			}
		}
	}
	for n := range namespaces {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
		if err := live.List(ctx, list, client.InNamespace(n), client.MatchingLabels{olmv1.RevisionNameKey: olmv1.LabelValue(set.Name), olmv1.OwnerNameKey: set.Labels[olmv1.OwnerNameKey]}); err != nil {
			return fmt.Errorf("list the Secrets of revision %s in namespace %s: %w", set.Name, n, err)
		}
		for i := range list.Items {
			if err := ownSecret(ctx, c, set, &list.Items[i], used[client.ObjectKeyFromObject(&list.Items[i])]); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("make Secret %s/%s belong to revision %s: %w", n, list.Items[i].Name, set.Name, err)
			}
		}
	}
	return nil
}

func ownSecret(ctx context.Context, c client.Client, set *olmv1.ClusterObjectSet, s *metav1.PartialObjectMetadata, used bool) error {
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if !used {
		return c.Delete(ctx, s, client.Preconditions{UID: &s.UID})
	}
	owners := slices.DeleteFunc(slices.Clone(s.OwnerReferences), func(r metav1.OwnerReference) bool { return r.Kind == olmv1.ClusterExtensionKind })
	at := slices.IndexFunc(owners, func(r metav1.OwnerReference) bool { return r.UID == set.UID })
	if at < 0 {
		at = len(owners)
		owners = append(owners, metav1.OwnerReference{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: set.Name, UID: set.UID})
	}
	if !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }) {
		owners[at].Controller = new(true) // an object has one controller at most
	}
	if reflect.DeepEqual(owners, s.OwnerReferences) {
		return nil
	}
	before := s.DeepCopy()
	s.OwnerReferences = owners
	return c.Patch(ctx, s, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), FieldManager)
}
