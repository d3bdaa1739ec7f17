package revision

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// KeptKey is the annotation of a CustomResourceDefinition that stayed when its ClusterExtension or its revision was removed: whose it was, as
// KeptOf says. The next ClusterExtension of that name adopts it.
const KeptKey = "operators.fairlead.dev/kept-of"

// DeleteCRDsKey is the annotation of a ClusterExtension, or of a ClusterObjectSet, with the names of the CustomResourceDefinitions that are to
// be deleted with all their custom resources when it is deleted, separated by spaces; "*" is all. Others with custom resources stay.
const DeleteCRDsKey = "operators.fairlead.dev/delete-crds"

// OrphanKey is the annotation of a ClusterExtension, or of a ClusterObjectSet, that leaves its objects when it is deleted. Kubernetes has a
// finalizer for that, which it takes away when it thinks that nothing refers to the object any more, maybe before a controller comes to look,
// and then it may not even have heard of the youngest references.
const OrphanKey = "operators.fairlead.dev/orphaned"

// DeletesCRD reports whether the annotation DeleteCRDsKey of an object names a CustomResourceDefinition.
func DeletesCRD(o metav1.Object, crd string) bool {
	return slices.ContainsFunc(strings.Fields(o.GetAnnotations()[DeleteCRDsKey]), func(name string) bool { return name == crd || name == "*" })
}

// Orphan marks an object with OrphanKey. It returns false where that changes nothing.
func Orphan(o metav1.Object) bool {
	annotations := o.GetAnnotations()
	if annotations[OrphanKey] != "" {
		return false
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[OrphanKey] = "true"
	o.SetAnnotations(annotations)
	return true
}

// Orphans reports whether an object that is being deleted leaves what it has.
func Orphans(o metav1.Object) bool {
	return slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents) || o.GetAnnotations()[OrphanKey] != ""
}

// KeptOf is the value of KeptKey for a ClusterExtension.
func KeptOf(name string, uid types.UID) string { return name + "/" + string(uid) }

// KeptFor reports whether an object was kept for a ClusterExtension: for one of that name, but not for the one itself that it was kept from,
// which is about to go and would take it along.
func KeptFor(o metav1.Object, name string, uid types.UID) bool {
	was, from, kept := strings.Cut(o.GetAnnotations()[KeptKey], "/")
	return kept && name != "" && was == name && uid != "" && from != string(uid)
}

// Keep takes a CustomResourceDefinition from the revisions that own it, and from ClusterExtensions, which other implementations make owners: they
// would take it along when they go. It does so unless the definition has changed since it was read. of is the value of KeptKey; empty is for
// those that no one may adopt. Where what converts its custom resources goes, they are not converted any more: otherwise no one could read
// or delete them.
func Keep(ctx context.Context, c client.Client, live *apiextensionsv1.CustomResourceDefinition, of string, unconverted bool, as client.FieldOwner) error {
	annotations := map[string]any{olmv1.GroupName + "/revision": nil} // which would say that a user has taken it away from a revision
	if of != "" {
		annotations[KeptKey] = of
	}
	metadata := map[string]any{"resourceVersion": live.ResourceVersion, "annotations": annotations,
		"ownerReferences": slices.DeleteFunc(slices.Clone(live.OwnerReferences), func(o metav1.OwnerReference) bool { return IsRevision(o) || IsExtension(o) })}
	patch := map[string]any{"metadata": metadata}
	if unconverted {
		patch["spec"] = map[string]any{"conversion": map[string]any{"strategy": apiextensionsv1.NoneConverter, "webhook": nil}}
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("write the patch of CustomResourceDefinition %s: %w", live.Name, err)
	}
	if err := c.Patch(ctx, live, client.RawPatch(types.MergePatchType, text), as); err != nil {
		return fmt.Errorf("keep CustomResourceDefinition %s: %w", live.Name, err)
	}
	return nil
}

// IsRevision reports whether an owner is a revision.
func IsRevision(o metav1.OwnerReference) bool {
	return o.Kind == olmv1.ClusterObjectSetKind && strings.HasPrefix(o.APIVersion, olmv1.GroupName+"/")
}

// IsExtension reports whether an owner is a ClusterExtension.
func IsExtension(o metav1.OwnerReference) bool {
	return o.Kind == olmv1.ClusterExtensionKind && strings.HasPrefix(o.APIVersion, olmv1.GroupName+"/")
}

// LosesConverter reports whether the Service is not there, or goes, whose webhook converts the custom resources of a CustomResourceDefinition.
func LosesConverter(ctx context.Context, reader client.Reader, live *apiextensionsv1.CustomResourceDefinition, goes func(service metav1.Object) bool) (bool, error) {
	conversion := live.Spec.Conversion
	if conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil || conversion.Webhook.ClientConfig.Service == nil {
		return false, nil
	}
	service := &metav1.PartialObjectMetadata{}
	service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	name := client.ObjectKey{Namespace: conversion.Webhook.ClientConfig.Service.Namespace, Name: conversion.Webhook.ClientConfig.Service.Name}
	err := reader.Get(ctx, name, service)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read Service %s, which converts the custom resources of CustomResourceDefinition %s: %w", name, live.Name, err)
	}
	return goes(service), nil
}
