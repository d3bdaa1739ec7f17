package migrate

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// CSV names a ClusterServiceVersion.
type CSV struct{ Namespace, Name string }

// String is the name with its namespace.
func (c CSV) String() string { return c.Namespace + "/" + c.Name }

// owns tells whether an object belongs to the ClusterServiceVersion: by reference, or by label where it cannot by reference.
func (c CSV) owns(live metav1.Object) bool {
	for _, r := range live.GetOwnerReferences() {
		if isCSV(r) && r.Name == c.Name && live.GetNamespace() == c.Namespace {
			return true
		}
	}
	labels := live.GetLabels()
	return labels[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && labels[v1alpha1.OwnerLabel] == c.Name && labels[v1alpha1.OwnerNamespaceLabel] == c.Namespace
}

func isCSV(r metav1.OwnerReference) bool {
	gv, err := schema.ParseGroupVersion(r.APIVersion)
	return err == nil && gv.Group == v1alpha1.GroupName && r.Kind == v1alpha1.ClusterServiceVersionKind
}

// Refused is why an object that is there cannot be taken over with a ClusterServiceVersion; empty when it can. What has no namespace and
// nobody's mark may have been made by an InstallPlan: CustomResourceDefinitions have no owner, because operators share them.
func (c CSV) Refused(live *unstructured.Unstructured) string {
	if controller := metav1.GetControllerOfNoCopy(live); controller != nil && !isCSV(*controller) {
		return fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	if live.GetDeletionTimestamp() != nil {
		return "it is being deleted"
	}
	if c.owns(live) {
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
	if live.GetNamespace() != "" {
		return fmt.Sprintf("nothing says that it belongs to ClusterServiceVersion %s: somebody else may have made it", c)
	}
	return ""
}
