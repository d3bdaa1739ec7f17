package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the classic kinds.
const GroupName = "operators.coreos.com"

// Kinds of this package.
const (
	ClusterServiceVersionKind = "ClusterServiceVersion"
	SubscriptionKind          = "Subscription"
	InstallPlanKind           = "InstallPlan"
	CatalogSourceKind         = "CatalogSource"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ClusterServiceVersion{}, &ClusterServiceVersionList{},
		&Subscription{}, &SubscriptionList{},
		&InstallPlan{}, &InstallPlanList{},
		&CatalogSource{}, &CatalogSourceList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
