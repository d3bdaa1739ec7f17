package operator

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// maxLabels is how many component labels of one object count, the first by name: a user who may label an object of their own could
// otherwise have any number of Operators made with it.
const maxLabels = 16

// packageName is the name of the Operator of a Subscription; "" when it names no package.
func packageName(o client.Object) string {
	s, ok := o.(*v1alpha1.Subscription)
	if !ok || s.Spec == nil || s.Spec.Package == "" {
		return ""
	}
	return s.Spec.Package + "." + s.Namespace
}

// labelled are the short names of the Operators that an object is a component of.
func labelled(o client.Object) []string {
	var names []string
	for key := range o.GetLabels() {
		if name, ok := strings.CutPrefix(key, v1alpha1.ComponentLabelPrefix); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxLabels)]
}

// owners are the ClusterServiceVersions that an object belongs to: by owner references, or by labels where owner and object have
// different namespaces.
func owners(o client.Object) []types.NamespacedName {
	var out []types.NamespacedName
	for _, r := range o.GetOwnerReferences() {
		if refersToCSV(r) && o.GetNamespace() != "" {
			out = append(out, types.NamespacedName{Namespace: o.GetNamespace(), Name: r.Name})
		}
	}
	l := o.GetLabels()
	if l[v1alpha1.OwnerKindLabel] == v1alpha1.ClusterServiceVersionKind && l[v1alpha1.OwnerLabel] != "" && l[v1alpha1.OwnerNamespaceLabel] != "" {
		out = append(out, types.NamespacedName{Namespace: l[v1alpha1.OwnerNamespaceLabel], Name: l[v1alpha1.OwnerLabel]})
	}
	return out
}

// belongs reports whether an object is owned by a ClusterServiceVersion, and not by an earlier one of the same name.
func belongs(o client.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	if o.GetNamespace() == csv.Namespace {
		for _, r := range o.GetOwnerReferences() {
			if refersToCSV(r) && r.Name == csv.Name {
				return r.UID == csv.UID
			}
		}
	}
	return slices.Contains(owners(o), client.ObjectKeyFromObject(csv))
}

func refersToCSV(r metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	return r.Kind == v1alpha1.ClusterServiceVersionKind && group == v1alpha1.GroupName
}
