package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of the classic kinds.
const GroupName = "operators.coreos.com"

// OperatorConditionKind is the kind of this package.
const OperatorConditionKind = "OperatorCondition"

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v2"}

// AddToScheme registers the kind of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &OperatorCondition{}, &OperatorConditionList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
