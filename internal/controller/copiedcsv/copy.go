package copiedcsv

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// fieldManager writes the copies. Whether anyone else has is seen by it.
const fieldManager = "fairlead-copiedcsv"

// Annotations that trim leaves on a copy in the cache, where nothing else can have them: they are no valid names.
const (
	aboutKey   = "#about"   // the hash of all labels and annotations of the copy
	foreignKey = "#foreign" // there if another client has written to the copy, or its status was never written
	fieldsKey  = "#fields"  // the fields of its status
)

// emptyCopy is the type of copies in the cache.
func emptyCopy() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
	return object
}

func emptyCopyList() *metav1.PartialObjectMetadataList {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind + "List"))
	return list
}

// trim leaves of a copy only what is reconciled, which is a fraction: annotations are often most of the metadata.
func trim(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	if _, done := full.Annotations[aboutKey]; done {
		return object, nil
	}
	return trimmed(full), nil
}

func trimmed(full *metav1.PartialObjectMetadata) *metav1.PartialObjectMetadata {
	small := emptyCopy()
	small.Name, small.Namespace, small.UID, small.ResourceVersion = full.Name, full.Namespace, full.UID, full.ResourceVersion
	small.DeletionTimestamp, small.Generation = full.DeletionTimestamp, full.Generation
	from, ok := full.Labels[v1alpha1.CopiedFromLabel]
	if !ok {
		from = full.Annotations[v1alpha1.OperatorNamespaceAnnotation]
	}
	small.Labels = map[string]string{v1alpha1.CopiedFromLabel: from}
	annotations := maps.Clone(full.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	allLabels := full.Labels
	if allLabels == nil {
		allLabels = map[string]string{}
	}
	mark, generation := readMark(annotations[markAnnotation])
	delete(annotations, markAnnotation)
	small.Annotations = map[string]string{markAnnotation: mark, aboutKey: hashOf(allLabels, annotations)}
	fields, written := statusFields(full)
	small.Annotations[fieldsKey] = unique.Make(fields).Value() // mostly those of thousands of others
	// Whether another client has written to the copy. Who only takes fields away owns none of them, and is not seen so.
	foreign := slices.ContainsFunc(full.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager != fieldManager })
	if !written || foreign || generation != strconv.FormatInt(full.Generation, 10) {
		small.Annotations[foreignKey] = ""
	}
	return small
}

// statusFields are the fields of the status that was written here and are there still; false when it was never written.
func statusFields(full *metav1.PartialObjectMetadata) (fields string, written bool) {
	for _, entry := range full.ManagedFields {
		if entry.Subresource != "status" {
			continue
		}
		written = true
		var owned struct {
			Status json.RawMessage `json:"f:status"`
		}
		if entry.FieldsV1 != nil && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) == nil {
			fields = fieldsOf(owned.Status, "f:")
		}
	}
	return fields, written
}

// origin is the namespace that a copy says it is from.
func origin(copied client.Object) string { return copied.GetLabels()[v1alpha1.CopiedFromLabel] }

// copiesOptions fill a cache with the metadata of copies: of all, or of those from some namespaces.
func copiesOptions(namespaces []string) (cache.Options, error) {
	operator := selection.Exists
	if len(namespaces) > 0 {
		operator = selection.In
	}
	copies, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, operator, namespaces)
	if err != nil {
		return cache.Options{}, err
	}
	return cache.Options{
		NewInformer: reconcile.NewPagedInformer,
		ByObject:    map[client.Object]cache.ByObject{emptyCopy(): {Label: labels.NewSelector().Add(*copies), Transform: trim}},
	}, nil
}

// CacheOptions keep copies out of the caches of the manager, where they would be held in full: no one but this controller
// checks them, and it has its own cache.
func CacheOptions() map[client.Object]cache.ByObject {
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		panic(err) // the key is a constant
	}
	return map[client.Object]cache.ByObject{&v1alpha1.ClusterServiceVersion{}: {Label: labels.NewSelector().Add(*originals)}}
}
