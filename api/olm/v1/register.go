package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the cluster scoped kinds.
const GroupName = "olm.operatorframework.io"

// Kinds of this package.
const (
	ClusterExtensionKind = "ClusterExtension"
	ClusterCatalogKind   = "ClusterCatalog"
	ClusterObjectSetKind = "ClusterObjectSet"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ClusterExtension{}, &ClusterExtensionList{},
		&ClusterCatalog{}, &ClusterCatalogList{},
		&ClusterObjectSet{}, &ClusterObjectSetList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
