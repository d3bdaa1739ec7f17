package installplan

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// refusing lets every write of the Service web fail.
func refusing(err error) func(string, bool) error {
	return func(what string, after bool) error {
		if strings.HasSuffix(what, " web") && !after {
			return err
		}
		return nil
	}
}

// TestAnAPIServerThatIsAwayIsWaitedFor: a plan is not given up because the API server has no time for a while, and goes on when it has.
// It is asked less and less often until then.
func TestAnAPIServerThatIsAwayIsWaitedFor(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	for name, err := range map[string]error{
		"has no time":        apierrors.NewServerTimeout(services, "create", 1),
		"takes too long":     apierrors.NewTimeoutError("request did not complete within 30s", 1),
		"has too much to do": apierrors.NewTooManyRequests("slow down", 1),
		"has no backend":     apierrors.NewServiceUnavailable("apiserver is shutting down"),
		"is not there":       &url.Error{Op: "Post", URL: "https://x", Err: errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newPlan(step(t, csvYAML), step(t, serviceYAML)))
			w.Fault(refusing(err))
			p := w.settle(t, 10*time.Minute)
			if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !strings.HasPrefix(p.Status.Message, "retrying execution due to error: create Service ns/web: ") {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
			if tries := w.Count("create Service web"); tries > 60 {
				t.Errorf("%d attempts within 10 minutes", tries)
			}
			checkStatus(t, p)
			w.Fault(nil)
			hasPhase(t, w.settle(t, forbiddenPause), v1alpha1.InstallPlanPhaseComplete)
		})
	}
}

// TestOtherErrorsAreNotWaitedForBesides: that one of two objects is refused fails the plan, and it is given its time after the API server is back.
func TestOtherErrorsAreNotWaitedForBesides(t *testing.T) {
	w := newWorld(t, newPlan(step(t, csvYAML), step(t, serviceYAML)))
	w.Fault(refusing(apierrors.NewTooManyRequests("slow down", 1)))
	w.settle(t, 10*time.Minute)
	w.Fault(refusing(errors.New("field is immutable")))
	if p := w.settle(t, DefaultRetryTimeout/2); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling {
		t.Errorf("it is %s at once: %s", p.Status.Phase, p.Status.Message)
	}
	hasPhase(t, w.settle(t, 2*DefaultRetryTimeout), v1alpha1.InstallPlanPhaseFailed)
}

// failedWithout has a plan that failed on Service web, which does not exist.
func failedWithout(t *testing.T, change func(*world)) *world {
	t.Helper()
	w := newWorld(t, subscribedPlan(t))
	change(w)
	return failed(t, w)
}

// subscribedPlan is a plan of a Subscription.
func subscribedPlan(t *testing.T) *v1alpha1.InstallPlan {
	t.Helper()
	plan := newPlan(step(t, csvYAML), step(t, serviceYAML))
	plan.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: "s", UID: "s"}}
	return plan
}

func failed(t *testing.T, w *world) *world {
	t.Helper()
	if p := w.settle(t, 10*time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || p.Annotations[v1alpha1.RetryAnnotation] != "" {
		t.Fatalf("%s %v: %s", p.Status.Phase, p.Annotations, p.Status.Message)
	}
	return w
}

// TestWhatPassesIsLookedAt: a plan that failed on a webhook which did not answer, or on a kind that was not served, says that it may be
// repeated as soon as that is over, and before that it writes nothing.
func TestWhatPassesIsLookedAt(t *testing.T) {
	webhook := apierrors.NewInternalError(errors.New(`failed calling webhook "x.example.com": no endpoints available for service "x"`))
	unserved := func(o client.Object, _ string) error {
		if gvk := o.GetObjectKind().GroupVersionKind(); gvk.Kind == "Service" {
			return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
		}
		return nil
	}
	for name, tc := range map[string]struct {
		begin func(*world)
		again string
	}{
		"a webhook": {func(w *world) { w.Fault(refusing(webhook)) }, "the API server can write Service ns/web again"},
		"a kind":    {func(w *world) { w.Read = unserved }, "the API server serves the kind of Service ns/web now"},
	} {
		t.Run(name, func(t *testing.T) {
			w := failedWithout(t, tc.begin)
			must.Equal(t, "nothing has changed, and it", w.settle(t, 5*time.Minute).Annotations[v1alpha1.RetryAnnotation], "")
			w.Fault(nil)
			w.Read = nil
			p := w.settle(t, 2*obstaclePause)
			if got := p.Annotations[v1alpha1.RetryAnnotation]; got != tc.again {
				t.Errorf("annotation %q, want %q", got, tc.again)
			}
			if w.get(t, &corev1.Service{}, "ns", "web") {
				t.Error("looking has made the object")
			}
		})
	}
}

// TestWhatPassesIsLookedAtAsTheAccount that the plan is carried out as: what that may not write, another plan could not write either.
func TestWhatPassesIsLookedAtAsTheAccount(t *testing.T) {
	webhook := apierrors.NewInternalError(errors.New("failed calling webhook"))
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New("not yours"))
	for name, tc := range map[string]struct {
		there bool // the Service is there, and is to be changed
		asked string
	}{
		"an object that is made":    {false, "create web"},
		"an object that is changed": {true, "apply web"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{subscribedPlan(t)}
			if tc.there {
				objects = append(objects, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{v1alpha1.ManagedLabel: "true"}}})
			}
			var asked []string
			answer := error(webhook)
			w := limitedWorld(t, func(what string) error {
				asked = append(asked, what)
				if strings.HasSuffix(what, " web") {
					return answer
				}
				return nil
			}, objects...)
			failed(t, w)
			for _, answer = range []error{webhook, forbidden} {
				asked = nil
				if p := w.settle(t, 2*obstaclePause); p.Annotations[v1alpha1.RetryAnnotation] != "" || len(asked) == 0 || asked[0] != tc.asked {
					t.Errorf("where the account is told %v, it is asked to %q, and the plan says %q", answer, asked, p.Annotations[v1alpha1.RetryAnnotation])
				}
			}
			answer = nil
			must.Equal(t, "the plan", w.settle(t, 2*obstaclePause).Annotations[v1alpha1.RetryAnnotation], "the API server can write Service ns/web again")
		})
	}
}
