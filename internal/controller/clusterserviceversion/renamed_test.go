package clusterserviceversion

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestTheConfigurationStaysWhileAnotherPackageTakesOver: the Subscription asks for package b and has b.v2, which replaces the operator of package
// a. That one keeps its configuration until it is gone, so that it is not rolled out on its way out.
func TestTheConfigurationStaysWhileAnotherPackageTakesOver(t *testing.T) {
	csv := func(name, replaces, pkg string) *v1alpha1.ClusterServiceVersion {
		c := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			v1alpha1.PropertiesAnnotation: `{"properties":[{"type":"olm.package","value":{"packageName":"` + pkg + `","version":"1.0.0"}}]}`}}}
		c.Spec.Replaces = replaces
		return c
	}
	old, next, other := csv("a.v1", "", "a"), csv("b.v2", "a.v1", "b"), csv("c.v1", "", "c")
	chain := newChain([]*v1alpha1.ClusterServiceVersion{old, next, other})
	s := v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: &v1alpha1.SubscriptionSpec{Package: "b"},
		Status: v1alpha1.SubscriptionStatus{InstalledCSV: "b.v2", CurrentCSV: "b.v2"}}
	for name, want := range map[*v1alpha1.ClusterServiceVersion]bool{old: true, next: true, other: false} {
		must.Equal(t, name.Name+" has the configuration of the Subscription", subscriptionOf(name, []v1alpha1.Subscription{s}, chain) != nil, want)
	}
	own := v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Name: "own"}, Spec: &v1alpha1.SubscriptionSpec{Package: "a"}}
	if got := subscriptionOf(old, []v1alpha1.Subscription{s, own}, chain); got == nil || got.Name != "own" {
		t.Errorf("a.v1 has the configuration of %v, want that of the Subscription of its package", got)
	}
}
