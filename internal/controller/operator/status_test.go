package operator

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
)

func ofKind(t *testing.T, name string) kind {
	t.Helper()
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.gvk.Kind == name })
	if i < 0 {
		t.Fatalf("components are never of kind %s", name)
	}
	return kinds[i]
}

// TestConditions of every kind that has some.
func TestConditions(t *testing.T) {
	early, late := metav1.NewTime(time.Unix(1893553445, 0)), metav1.NewTime(time.Unix(1893553446, 0))
	both := v1.Condition{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastUpdateTime: &late, LastTransitionTime: &early}
	changed := both
	changed.LastUpdateTime = nil
	meta := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastTransitionTime: early}}
	phase := both
	phase.Type = "Succeeded"
	tests := map[string]struct {
		o    client.Object
		want []v1.Condition
	}{
		"ClusterServiceVersion": {&v1alpha1.ClusterServiceVersion{Status: v1alpha1.ClusterServiceVersionStatus{Phase: "Succeeded", Reason: "Why", Message: "what",
			LastUpdateTime: &late, LastTransitionTime: &early}}, []v1.Condition{phase}},
		"Subscription": {&v1alpha1.Subscription{Status: v1alpha1.SubscriptionStatus{Conditions: []v1alpha1.SubscriptionCondition{
			{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastHeartbeatTime: &late, LastTransitionTime: &early}}}}, []v1.Condition{changed}},
		"InstallPlan": {&v1alpha1.InstallPlan{Status: v1alpha1.InstallPlanStatus{Conditions: []v1alpha1.InstallPlanCondition{
			{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastUpdateTime: &late, LastTransitionTime: &early}}}}, []v1.Condition{both}},
		"Deployment": {&appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
			{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastUpdateTime: late, LastTransitionTime: early}}}}, []v1.Condition{both}},
		"OperatorCondition": {&v2.OperatorCondition{Status: v2.OperatorConditionStatus{Conditions: meta}}, []v1.Condition{changed}},
		"Service":           {&corev1.Service{Status: corev1.ServiceStatus{Conditions: meta}}, []v1.Condition{changed}},
		"Namespace": {&corev1.Namespace{Status: corev1.NamespaceStatus{Conditions: []corev1.NamespaceCondition{
			{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastTransitionTime: early}}}}, []v1.Condition{changed}},
		"CustomResourceDefinition": {&apiextensionsv1.CustomResourceDefinition{Status: apiextensionsv1.CustomResourceDefinitionStatus{Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastTransitionTime: early}}}}, []v1.Condition{changed}},
		"APIService": {&apiregistrationv1.APIService{Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{
			{Type: "Ready", Status: "True", Reason: "Why", Message: "what", LastTransitionTime: early}}}}, []v1.Condition{changed}},
		"Secret": {&metav1.PartialObjectMetadata{}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.o.SetNamespace("a")
			test.o.SetName("b")
			k := ofKind(t, name)
			version, kind := k.gvk.ToAPIVersionAndKind()
			want := v1.RichReference{ObjectReference: corev1.ObjectReference{APIVersion: version, Kind: kind, Namespace: "a", Name: "b"}, Conditions: test.want}
			if diff := cmp.Diff(want, k.reference(test.o)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestConditionsThatAreNone: an operator without a phase, and what the API would not take.
func TestConditionsThatAreNone(t *testing.T) {
	k := ofKind(t, v1alpha1.ClusterServiceVersionKind)
	if r := k.reference(&v1alpha1.ClusterServiceVersion{}); r.Conditions != nil {
		t.Errorf("without a phase: %v", r.Conditions)
	}
	k = ofKind(t, "InstallPlan")
	if r := k.reference(&v1alpha1.InstallPlan{Status: v1alpha1.InstallPlanStatus{Conditions: []v1alpha1.InstallPlanCondition{{Type: "Installed"}}}}); r.Conditions != nil {
		t.Errorf("without a status: %v", r.Conditions)
	}
}

// TestTheListIsBounded by its size, whatever is in it, and in the documented order.
func TestTheListIsBounded(t *testing.T) {
	var in []v1.RichReference
	for _, kind := range []string{"Secret", "Deployment"} {
		for range 3000 {
			r := v1.RichReference{ObjectReference: corev1.ObjectReference{APIVersion: "v1", Kind: kind, Namespace: strings.Repeat("n", 63), Name: strings.Repeat("a", 253)}}
			if kind == "Deployment" {
				r.Conditions = []v1.Condition{{Type: "Ready", Status: "True"}}
			}
			in = append(in, r)
		}
	}
	status, left := statusOf("key", in)
	refs := status.Components.Refs
	encoded, err := json.Marshal(refs)
	if err != nil || len(encoded) > maxBytes+2 || len(encoded) < maxBytes/2 || left+len(refs) != len(in) || left == 0 {
		t.Errorf("%d bytes, %d listed, %d left: %v", len(encoded), len(refs), left, err)
	}
	if refs[0].Kind != "Deployment" || !slices.IsSortedFunc(refs, inOrder) {
		t.Error("what has conditions is not preferred, or the order is not the documented one")
	}
	if _, left := statusOf("key", in[:10]); left != 0 {
		t.Errorf("of ten components %d are left out", left)
	}
}
