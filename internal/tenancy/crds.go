package tenancy

import (
	"cmp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Bringers returns the ClusterServiceVersions whose InstallPlans brought a CRD, as its annotations record, sorted. A ClusterServiceVersion may list
// any CRD as owned; only users who may write CRDs, and the manager, record who brought one.
func Bringers(crd metav1.Object) []types.NamespacedName {
	var all []types.NamespacedName
	for key, value := range crd.GetAnnotations() {
		namespace, name, ok := strings.Cut(value, "/")
		if ok && strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
			all = append(all, types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	slices.SortFunc(all, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(all)
}

// BroughtFrom reports whether an InstallPlan of a namespace brought a CRD.
func BroughtFrom(crd metav1.Object, namespace string) bool {
	return slices.ContainsFunc(Bringers(crd), func(by types.NamespacedName) bool { return by.Namespace == namespace })
}

// MayAdopt reports whether a CRD that no InstallPlan brought may become that of an operator of a namespace, because someone who may write CRDs set
// the annotation AdoptableByAnnotation.
func MayAdopt(crd metav1.Object, namespace string) bool {
	for name := range strings.SplitSeq(crd.GetAnnotations()[v1alpha1.AdoptableByAnnotation], ",") {
		if name = strings.TrimSpace(name); name == "*" || name != "" && name == namespace {
			return true
		}
	}
	return false
}
