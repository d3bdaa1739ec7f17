package installplan

import (
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mark gives a ClusterServiceVersion what the controller of ClusterServiceVersions gives each of them before anything else, and looks after
// from then on: its finalizer, the labels of its APIs, and the annotations of its OperatorGroup. A write of the largest object of an operator
// is saved in this way.
func (x *stepWriter) mark(u *unstructured.Unstructured) {
	csv := x.incoming[u.GetName()]
	if csv == nil {
		return
	}
	bundle.MarkOperator(u, csv)
	if x.group != nil && len(x.group.Status.Namespaces) > 0 {
		annotations := u.GetAnnotations()
		for key, value := range tenancy.MemberAnnotations(x.group) {
			annotations = withEntry(annotations, key, value)
		}
		u.SetAnnotations(annotations)
	}
}
