package revision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldManager owns the fields of ClusterObjectSets.
const FieldManager = client.FieldOwner("olm.operatorframework.io/clusterextension-controller")

// ExistsError says that there is another revision of the same number.
type ExistsError struct{ Name, Why string }

// Error names the revision.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("write revision %s: it exists, and %s; make a revision with the next number", e.Name, e.Why)
}

// Write brings a revision into the cluster: its Secrets, then the ClusterObjectSet. What is there already is left as it is when it is the
// same, so that a call that was cut short is finished by the next one. Of a ClusterObjectSet that has the same objects, labels, annotations
// and the deadline are brought up to date. One with other objects, or an archived one, is an *ExistsError.
func Write(ctx context.Context, c client.Client, r *Revision) error {
	live := &olmv1.ClusterObjectSet{}
	err := c.Get(ctx, client.ObjectKeyFromObject(r.Set), live)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("read revision %s: %w", r.Set.Name, err)
	default:
		return update(ctx, c, r.Set, live)
	}
	for _, secret := range r.Secrets {
		if err := writeSecret(ctx, c, r.Set, secret); err != nil {
			return fmt.Errorf("write Secret %s/%s of revision %s: %w", secret.Namespace, secret.Name, r.Set.Name, err)
		}
	}
	// A create fails when a cache did not tell of the revision yet.
	if err := c.Create(ctx, r.Set.DeepCopy(), FieldManager); err != nil {
		return fmt.Errorf("create revision %s: %w", r.Set.Name, err)
	}
	return nil
}

// writeSecret creates a Secret. Until the ClusterObjectSet is there it belongs to the extension, so that it goes with it. One that an earlier
// extension of the name has left is adopted, before the garbage collector removes it with its old owner.
func writeSecret(ctx context.Context, c client.Client, set *olmv1.ClusterObjectSet, secret *corev1.Secret) error {
	secret = secret.DeepCopy()
	secret.OwnerReferences = nil
	for _, owner := range set.OwnerReferences {
		owner.Controller, owner.BlockOwnerDeletion = nil, nil
		secret.OwnerReferences = append(secret.OwnerReferences, owner)
	}
	err := c.Create(ctx, secret, FieldManager)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	live, err := readSecret(ctx, c, client.ObjectKeyFromObject(secret))
	if err != nil {
		return err
	}
	switch {
	case live.DeletionTimestamp != nil:
		return errors.New("it is being deleted; it can be written when it is gone")
	case live.Immutable == nil || !*live.Immutable || live.Type != secret.Type || !reflect.DeepEqual(live.Data, secret.Data):
		return errors.New("there is another Secret of this name; delete that")
	case live.Labels[olmv1.RevisionNameKey] != secret.Labels[olmv1.RevisionNameKey] || live.Labels[olmv1.OwnerNameKey] != secret.Labels[olmv1.OwnerNameKey]:
		return nil // others made it, of the same content
	}
	return adoptSecret(ctx, c, set, live, secret.OwnerReferences)
}

// adoptSecret gives a Secret the owners that it is to have, in place of those of the same names that are gone: the ClusterObjectSet was looked for
// and is not there. The patch fails when the garbage collector has been quicker.
func adoptSecret(ctx context.Context, c client.Client, set *olmv1.ClusterObjectSet, live *corev1.Secret, wanted []metav1.OwnerReference) error {
	owners := slices.DeleteFunc(slices.Clone(live.OwnerReferences), func(r metav1.OwnerReference) bool {
		return r.Kind == olmv1.ClusterObjectSetKind && r.Name == set.Name || slices.ContainsFunc(wanted, func(w metav1.OwnerReference) bool { return r.Kind == w.Kind && r.Name == w.Name })
	})
	owners = append(owners, wanted...)
	if reflect.DeepEqual(owners, live.OwnerReferences) {
		return nil
	}
	changed := live.DeepCopy()
	changed.OwnerReferences = owners
	return c.Patch(ctx, changed, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}), FieldManager)
}

// update brings what may change of a revision up to date.
func update(ctx context.Context, c client.Client, wanted, live *olmv1.ClusterObjectSet) error {
	_, of := ExtensionOf(wanted)
	_, is := ExtensionOf(live)
	labels, annotations := merged(live.Labels, wanted.Labels), merged(live.Annotations, wanted.Annotations)
	switch {
	case of != "" && is != of: // the annotations, the digest among them, are worth nothing then: the client that made the set wrote them
		return fmt.Errorf("write revision %s: there is a ClusterObjectSet of that name which is not the ClusterExtension's: delete it, or give the ClusterExtension another name", wanted.Name)
	case live.Annotations[DigestKey] != wanted.Annotations[DigestKey]:
		return &ExistsError{wanted.Name, "consists of other objects"}
	case live.Spec.LifecycleState == olmv1.LifecycleStateArchived:
		return &ExistsError{wanted.Name, "is archived"}
	case live.DeletionTimestamp != nil:
		return &ExistsError{wanted.Name, "is being deleted"}
	case maps.Equal(labels, live.Labels) && maps.Equal(annotations, live.Annotations) &&
		live.Annotations[ServiceAccountKey] == wanted.Annotations[ServiceAccountKey] &&
		live.Spec.ProgressDeadlineMinutes == wanted.Spec.ProgressDeadlineMinutes && metav1.GetControllerOf(live) != nil:
		return nil
	}
	changed := live.DeepCopy()
	changed.Spec.ProgressDeadlineMinutes = wanted.Spec.ProgressDeadlineMinutes
	changed.Labels, changed.Annotations = labels, annotations
	if wanted.Annotations[ServiceAccountKey] == "" {
		delete(changed.Annotations, ServiceAccountKey)
	}
	if metav1.GetControllerOf(live) == nil {
		changed.OwnerReferences = append(changed.OwnerReferences, wanted.OwnerReferences...)
	}
	err := c.Patch(ctx, changed, client.MergeFromWithOptions(live, client.MergeFromWithOptimisticLock{}), FieldManager)
	if err != nil {
		return fmt.Errorf("update revision %s: %w", wanted.Name, err)
	}
	return nil
}

func merged(live, wanted map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, live)
	maps.Copy(out, wanted)
	return out
}

// Own makes the Secrets that were written for a revision go with it: they belonged to the extension as long as the revision was not there.
// The revision becomes their controller, which clients of the API go by. Those of an attempt that was given up go at once. Secrets that others made
// are left alone. The reader must not be a cache.
func Own(ctx context.Context, live client.Reader, c client.Client, set *olmv1.ClusterObjectSet, namespace string) error {
	used := map[client.ObjectKey]bool{}
	namespaces := map[string]bool{}
	for _, p := range set.Spec.Phases {
		for _, o := range p.Objects {
			if o.Ref != nil {
				key := client.ObjectKey{Namespace: cmp.Or(o.Ref.Namespace, namespace), Name: o.Ref.Name}
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
