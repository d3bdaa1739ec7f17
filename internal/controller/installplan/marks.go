package installplan

import (
	"maps"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// mark gives a ClusterServiceVersion what the controller of ClusterServiceVersions gives each of them before anything else, and looks after
// from then on: its finalizer, the labels of its APIs, and the annotations of its OperatorGroup. A write of the largest object of an operator
// is saved in this way. One whose name is too long for labels gets no finalizer, as there.
func (x *execution) mark(u *unstructured.Unstructured) {
	csv := x.incoming[u.GetName()]
	if csv == nil {
		return
	}
	if len(csv.Name) <= validation.LabelValueMaxLength {
		controllerutil.AddFinalizer(u, v1alpha1.CSVCleanupFinalizer)
	}
	labels := u.GetLabels()
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, v1alpha1.APILabelPrefix) })
	u.SetLabels(labels)
	addLabels(u, bundle.APILabels(csv))
	if x.group != nil && len(x.group.Status.Namespaces) > 0 {
		annotations := u.GetAnnotations()
		for key, value := range tenancy.MemberAnnotations(x.group) {
			annotations = withEntry(annotations, key, value)
		}
		u.SetAnnotations(annotations)
	}
}
