package catalogsource

import (
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestAManagerThatEndsGivesWay for each Service that leads elsewhere as well, and keeps answering for the others.
func TestAManagerThatEndsGivesWay(t *testing.T) {
	scheme := runtime.NewScheme()
	must.NoError(t, discoveryv1.AddToScheme(scheme))
	must.NoError(t, metav1.AddMetaToScheme(scheme))
	slice := func(namespace, service, name, pod string) *discoveryv1.EndpointSlice {
		return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u", Annotations: map[string]string{podAnnotation: pod},
			Labels: map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue, discoveryv1.LabelServiceName: service, discoveryv1.LabelManagedBy: sliceManager}}}
	}
	const own, other = "olm/one/1", "olm/two/2"
	foreign := slice("a", "cat", "foreign", own)
	foreign.Labels[discoveryv1.LabelManagedBy] = "another program"
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(slice("a", "cat", "one", own), slice("a", "cat", "two", other), slice("b", "cat", "one", own), foreign).Build()
	left := func() (names []string) {
		var all discoveryv1.EndpointSliceList
		must.NoError(t, c.List(t.Context(), &all))
		for _, s := range all.Items {
			names = append(names, s.Namespace+"/"+s.Name)
		}
		return names
	}
	outside := must.Value((&Serving{}).GiveWay(t.Context(), c, c))(t)
	must.Equal(t, "what a process outside of a pod leaves alone", len(left())+outside, 4)
	must.Equal(t, "Services that lead to the pod alone", must.Value((&Serving{Pod: own}).GiveWay(t.Context(), c, c))(t), 1)
	must.Equal(t, "EndpointSlices", left(), []string{"a/foreign", "a/two", "b/one"})
	must.NoError(t, c.Create(t.Context(), slice("b", "cat", "two", other)))
	must.Equal(t, "Services when all lead elsewhere", must.Value((&Serving{Pod: own}).GiveWay(t.Context(), c, c))(t), 0)
	must.Equal(t, "EndpointSlices", left(), []string{"a/foreign", "a/two", "b/two"})
}
