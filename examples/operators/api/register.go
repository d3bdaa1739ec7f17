package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "demo.fairlead.dev", Version: "v1"}

// ConditionReady is the condition of both kinds that says whether the text is there.
const ConditionReady = "Ready"

// AddToScheme registers the kinds of this package with a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Greeting{}, &GreetingList{}, &Guestbook{}, &GuestbookList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
