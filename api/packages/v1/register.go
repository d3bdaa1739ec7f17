package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of package manifests.
const GroupName = "packages.operators.coreos.com"

// PackageManifestKind is the kind of this package.
const PackageManifestKind = "PackageManifest"

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// AddToScheme registers the kind of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &PackageManifest{}, &PackageManifestList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
