package installplan

import (
	"errors"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// failedOn has a plan that failed on Service web, as somebody else has it.
func failedOn(t *testing.T, service *corev1.Service, fault func(string, bool) error, others ...client.Object) *world {
	t.Helper()
	plan := newPlan(step(t, csvYAML), step(t, serviceYAML))
	plan.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: "s", UID: "s"}}
	service.Namespace, service.Name = "ns", "web"
	w := newWorld(t, append(others, plan, service)...)
	w.Fault(fault)
	if p := w.settle(t, 10*time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || p.Annotations[v1alpha1.RetryAnnotation] != "" {
		t.Fatalf("%s %v: %s", p.Status.Phase, p.Annotations, p.Status.Message)
	}
	w.Fault(nil)
	w.Taken()
	w.settle(t, 5*time.Minute)
	must.Empty(t, "looking at what stays as it is writes", w.Taken())
	return w
}

// change changes the Service web.
func (w *world) change(t *testing.T, do func(*corev1.Service)) {
	t.Helper()
	s := &corev1.Service{}
	w.get(t, s, "ns", "web")
	do(s)
	must.NoError(t, w.Inner.Update(t.Context(), s))
}

// TestWhatAPlanFailedOnIsLookedAt has a plan fail on an object of somebody else. As soon as it would not be refused any more, the plan says
// that it may be repeated; what else changes of the object says nothing, or a plan would be repeated again and again.
func TestWhatAPlanFailedOnIsLookedAt(t *testing.T) {
	controlled := metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "old", UID: "x", Controller: new(true)}}}
	operated := metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "other.v1", UID: "y"}}}
	managed := metav1.ObjectMeta{Labels: map[string]string{v1alpha1.ManagedLabel: "true"}}
	label := func(key, value string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			w.change(t, func(s *corev1.Service) { s.Labels = map[string]string{key: value} })
		}
	}
	refuse := func(what string, after bool) error {
		if what == "apply Service web" && !after {
			return errors.New("field is immutable")
		}
		return nil
	}
	tests := map[string]struct {
		service metav1.ObjectMeta
		fault   func(string, bool) error
		change  func(*testing.T, *world)
		again   string
	}{
		"it is given away": {metav1.ObjectMeta{}, nil, label(v1alpha1.ManagedLabel, "true"), "Service ns/web may be adopted now"},
		"it is gone": {metav1.ObjectMeta{}, nil, func(t *testing.T, w *world) {
			w.remove(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}})
		}, "Service ns/web is gone"},
		"its kind is gone": {metav1.ObjectMeta{}, nil, func(_ *testing.T, w *world) { // A cluster in which a kind has been uninstalled.
			w.Read = func(o client.Object, _ string) error {
				if gvk := o.GetObjectKind().GroupVersionKind(); gvk.Kind == "Service" {
					return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
				}
				return nil
			}
		}, "Service ns/web is gone"},
		"its status changes": {metav1.ObjectMeta{}, nil, func(t *testing.T, w *world) {
			w.change(t, func(s *corev1.Service) {
				s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
			})
		}, ""},
		"it gets a label, and is a user's":       {metav1.ObjectMeta{}, nil, label("synced-at", "now"), ""},
		"it gets a label, and has a controller":  {controlled, nil, label("synced-at", "now"), ""},
		"it is given away, and has a controller": {controlled, nil, label(v1alpha1.ManagedLabel, "true"), ""},
		"another controller takes it": {controlled, nil, func(t *testing.T, w *world) {
			w.change(t, func(s *corev1.Service) { s.OwnerReferences[0].UID, s.Generation = "z", 7 })
		}, ""},
		"the operator that has it goes":             {operated, nil, func(t *testing.T, w *world) { w.remove(t, csv("ns", "other.v1", "")) }, "Service ns/web may be adopted now"},
		"it cannot be written, and gets a label":    {managed, refuse, label("synced-at", "now"), ""},
		"it cannot be written, and gets a spec":     {managed, refuse, func(t *testing.T, w *world) { w.change(t, func(s *corev1.Service) { s.Generation = 7 }) }, "Service ns/web has changed"},
		"it cannot be written, and is made anew":    {managed, refuse, func(t *testing.T, w *world) { w.change(t, func(s *corev1.Service) { s.UID = "new" }) }, "Service ns/web has changed"},
		"it cannot be written, and nothing changes": {managed, refuse, func(*testing.T, *world) {}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := failedOn(t, &corev1.Service{ObjectMeta: *tc.service.DeepCopy()}, tc.fault, csv("ns", "other.v1", ""))
			tc.change(t, w)
			for range 3 { // a mark comes with the first look; an error would come with each
				must.Value(w.reconcile(t))(t)
			}
			p := w.settle(t, 5*time.Minute)
			if got := p.Annotations[v1alpha1.RetryAnnotation]; got != tc.again {
				t.Errorf("annotation %q, want %q", got, tc.again)
			}
			must.Equal(t, "phase", p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			w.settle(t, 2*time.Hour)
			if result, err := w.reconcile(t); err != nil || result.RequeueAfter != 0 {
				t.Errorf("it is looked at for ever: after %s, %v", result.RequeueAfter, err)
			}
		})
	}
}
