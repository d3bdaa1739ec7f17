package migrate

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// CSV names a ClusterServiceVersion.
type CSV struct{ Namespace, Name string }

// String is the name with its namespace.
func (c CSV) String() string { return c.Namespace + "/" + c.Name }

// Owner is a ClusterServiceVersion as objects belong to it.
type Owner struct {
	CSV
	UID types.UID

	self   *v1alpha1.ClusterServiceVersion
	others []v1alpha1.ClusterServiceVersion
}

// OwnerOf is a ClusterServiceVersion among all others of the cluster, without copies.
func OwnerOf(csv *v1alpha1.ClusterServiceVersion, others []v1alpha1.ClusterServiceVersion) Owner {
	return Owner{CSV: CSV{csv.Namespace, csv.Name}, UID: csv.UID, self: csv, others: others}
}

// owns tells whether an object belongs to the ClusterServiceVersion: by reference, or by label where it cannot by reference.
func (o Owner) owns(live metav1.Object) bool {
	return slices.ContainsFunc(live.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return o.is(r, live.GetNamespace()) }) || o.labelled(live)
}

// is tells whether a reference of an object in a namespace is to the ClusterServiceVersion.
func (o Owner) is(r metav1.OwnerReference, namespace string) bool {
	return isCSV(r) && r.Name == o.Name && r.UID == o.UID && namespace == o.Namespace
}

// labelled tells whether an object has the labels of what belongs to the ClusterServiceVersion.
func (o Owner) labelled(live metav1.Object) bool {
	labels := live.GetLabels()
	return labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && labels[v1alpha1.OwnerLabel] == o.Name && labels[v1alpha1.OwnerNamespaceLabel] == o.Namespace
}

func isCSV(r metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && r.Kind == v1alpha1.ClusterServiceVersionKind
}

// Refused is why an object that is there cannot be taken over with a ClusterServiceVersion; empty when it can.
func (o Owner) Refused(live *unstructured.Unstructured) string {
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil && !isCSV(*controller) {
		return fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	if live.GetDeletionTimestamp() != nil {
		return "it is being deleted"
	}
	if another := o.another(live); another != "" {
		return fmt.Sprintf("it belongs to ClusterServiceVersion %s as well", another)
	}
	if o.owns(live) {
		return ""
	}
	labels := live.GetLabels()
	if owner := labels[v1alpha1.OwnerLabel]; owner != "" {
		return fmt.Sprintf("it belongs to %s %s/%s", labels[v1alpha1.OwnerKindLabel], labels[v1alpha1.OwnerNamespaceLabel], owner)
	}
	if len(live.GetOwnerReferences()) > 0 {
		r := live.GetOwnerReferences()[0]
		return fmt.Sprintf("it belongs to %s %s", r.Kind, r.Name)
	}
	// CustomResourceDefinitions have no mark of an owner, because operators share them: the ClusterServiceVersion says which are its.
	if isDefinition(live) && o.self != nil && o.self.OwnsCRD(live.GetName()) {
		return ""
	}
	return fmt.Sprintf("nothing says that it belongs to ClusterServiceVersion %s: another client may have created it", o.CSV)
}

// another is a second ClusterServiceVersion that an object belongs to; empty when there is none. References to what is not there any more are
// left to the garbage collector.
func (o Owner) another(live *unstructured.Unstructured) string {
	for i := range o.others {
		c := &o.others[i]
		other := Owner{CSV: CSV{c.Namespace, c.Name}, UID: c.UID}
		if isDefinition(live) && c.OwnsCRD(live.GetName()) || other.owns(live) && o.owns(live) {
			return other.String()
		}
	}
	return ""
}

func isDefinition(u *unstructured.Unstructured) bool {
	return u.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}
