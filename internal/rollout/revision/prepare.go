package revision

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
)

// lastApplied is what kubectl leaves on objects; it describes another client's intent.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// wantedMetadata are the metadata that a bundle may ask for. All others are made by the cluster.
var wantedMetadata = map[string]bool{"name": true, "namespace": true, "labels": true, "annotations": true}

func (o *Options) stamp(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	delete(u.Object, "status")
	if metadata, ok := u.Object["metadata"].(map[string]any); ok {
		for name := range metadata {
			if !wantedMetadata[name] {
				delete(metadata, name)
			}
		}
	}
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	for key, value := range o.ownerLabels() {
		labels[key] = value
	}
	delete(annotations, lastApplied)
	for _, key := range []string{olmv1.BundleVersionKey, olmv1.PackageNameKey} {
		if value, ok := o.Annotations[key]; ok {
			annotations[key] = value
		}
	}
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
	return u
}

// identity is what two objects of a revision may not have in common.
type identity struct {
	schema.GroupKind
	namespace, name string
}

func identityOf(u *unstructured.Unstructured) identity {
	return identity{u.GroupVersionKind().GroupKind(), u.GetNamespace(), u.GetName()}
}

// String names the object, e.g. "Deployment.apps ns/web".
func (i identity) String() string {
	if i.namespace == "" {
		return i.GroupKind.String() + " " + i.name
	}
	return fmt.Sprintf("%s %s/%s", i.GroupKind, i.namespace, i.name)
}

// Unique refuses phases that have an object twice: it could never be as both ask for.
func Unique(phases []Phase) error {
	var all []error
	seen := map[identity]string{}
	for _, p := range phases {
		for _, o := range p.Objects {
			id := identityOf(o.Unstructured)
			if other, ok := seen[id]; ok {
				all = append(all, fmt.Errorf("%s is there twice, in phase %s and in phase %s; make a new revision with one of them", id, other, p.Name))
			}
			seen[id] = p.Name
		}
	}
	return errors.Join(all...)
}

// wellFormed refuses objects that no one could apply.
func wellFormed(u *unstructured.Unstructured) error {
	switch {
	case u.GetAPIVersion() == "" || u.GetKind() == "":
		return fmt.Errorf("object %q has no apiVersion or no kind", u.GetName())
	case u.GetName() == "":
		return fmt.Errorf("an object of kind %s has no name", u.GroupVersionKind().GroupKind())
	}
	return nil
}
