package installplan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSeriesOfFailures: what is refused is given its time, whenever the API server is away in between.
func TestSeriesOfFailures(t *testing.T) {
	boom := errors.New("boom")
	refused, away, denied := outcome{err: boom}, outcome{err: boom, away: true}, outcome{err: boom, forbidden: true}
	type pass struct {
		at    time.Duration
		done  outcome
		lasts time.Duration // the series, by then
	}
	for name, passes := range map[string][]pass{
		"refused":                        {{0, refused, 0}, {20 * time.Second, refused, 20 * time.Second}, {2 * time.Minute, refused, 2 * time.Minute}},
		"away":                           {{0, away, 0}, {20 * time.Minute, away, 20 * time.Minute}},
		"success begins anew":            {{0, refused, 0}, {time.Second, outcome{}, 0}, {time.Minute, refused, 0}},
		"a permission begins anew":       {{0, refused, 0}, {time.Second, denied, 0}, {2 * time.Hour, refused, 0}},
		"refused when it is back":        {{0, away, 0}, {time.Hour, refused, 0}, {time.Hour + 4*time.Second, refused, 4 * time.Second}},
		"away, and refused again":        {{0, refused, 0}, {4 * time.Second, refused, 4 * time.Second}, {7 * time.Second, away, 0}, {time.Hour, away, time.Hour - 7*time.Second}, {time.Hour + 2*time.Second, refused, 9 * time.Second}},
		"away for long before and after": {{0, refused, 0}, {time.Hour, away, 0}, {2 * time.Hour, refused, 2 * longestPause}},
		"in turn":                        {{0, refused, 0}, {time.Second, away, 0}, {2 * time.Second, refused, 2 * time.Second}, {3 * time.Second, away, 0}, {4 * time.Second, refused, 4 * time.Second}},
	} {
		var m memory
		plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
		key := client.ObjectKeyFromObject(plan)
		for i, p := range passes {
			now := epoch.Add(p.at)
			since := m.failingSince(key, p.done, now)
			if p.done.err == nil || p.done.isPatient() {
				if !since.IsZero() {
					t.Errorf("%s, pass %d: it fails since %s", name, i, since)
				}
				continue
			}
			if got := now.Sub(since); got != p.lasts {
				t.Errorf("%s, pass %d: it fails for %s, want %s", name, i, got, p.lasts)
			}
		}
	}
}

// run is settle for plans that may be looked at without an end: it gives up after so many passes.
func (w *world) run(t *testing.T, limit time.Duration, most int) (p *v1alpha1.InstallPlan, passes int) {
	t.Helper()
	for end := w.Clock.Now().Add(limit); w.Clock.Now().Before(end); passes++ {
		if passes == most {
			t.Fatalf("%d passes within %s", passes, w.Clock.Now().Sub(end.Add(-limit)))
		}
		before := w.plan(t, "plan").ResourceVersion
		result, err := w.reconcile(t)
		p = w.plan(t, "plan")
		switch {
		case err == nil && before != p.ResourceVersion:
			continue // an event brings it back
		case err != nil:
			result.RequeueAfter = 100 * time.Millisecond
		case result.RequeueAfter == 0:
			return p, passes
		}
		w.Clock.SetTime(w.Clock.Now().Add(result.RequeueAfter))
	}
	return p, passes
}

// TestAnAPIServerThatIsAwayNowAndThen: a plan that is refused something fails in its time, and errors that read otherwise each time do not
// have it carried out without a pause.
func TestAnAPIServerThatIsAwayNowAndThen(t *testing.T) {
	for name, fault := range map[string]func(n int) error{
		"every other time": func(n int) error {
			if n%2 == 0 {
				return apierrors.NewServiceUnavailable("shutting down")
			}
			return errors.New("field is immutable")
		},
		"always another text": func(n int) error { return fmt.Errorf("field is immutable (attempt %d)", n) },
		"in long turns": func(n int) error {
			if n/10%2 == 0 {
				return apierrors.NewTooManyRequests(fmt.Sprint("slow down ", n), n)
			}
			return fmt.Errorf("field is immutable (attempt %d)", n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newPlan(step(t, csvYAML), step(t, serviceYAML)))
			n := 0
			w.Fault(func(what string, after bool) error {
				if what == "create Service web" && !after {
					n++
					return fault(n)
				}
				return nil
			})
			p, _ := w.run(t, 20*time.Minute, 500)
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			statuses := w.Count(reported)
			if n > 100 || statuses > n+2 {
				t.Errorf("%d attempts and %d writes of the status within %s", n, statuses, w.Clock.Now().Sub(epoch))
			}
			checkStatus(t, p)
		})
	}
}

// TestAnAPIThatIsDead fails the plan in the end, which then waits for the API to come back.
func TestAnAPIThatIsDead(t *testing.T) {
	plan := newPlan(step(t, csvYAML), step(t, serviceYAML))
	plan.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: "s", UID: "s"}}
	w := newWorld(t, plan)
	dead := apierrors.NewServiceUnavailable("no endpoints available for service")
	w.Fault(func(what string, after bool) error {
		if (strings.HasSuffix(what, " web")) && !after {
			return dead
		}
		return nil
	})
	if p, _ := w.run(t, awayTimeout-time.Minute, 500); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	p, _ := w.run(t, 5*time.Minute, 100)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.Contains(p.Status.Message, "no endpoints available for service") {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	w.Taken()
	if p, passes := w.run(t, 5*time.Minute, 100); p.Annotations[v1alpha1.RetryAnnotation] != "" || passes > 12 {
		t.Errorf("after %d looks at what is still dead the plan says %q", passes, p.Annotations[v1alpha1.RetryAnnotation])
	}
	w.Fault(nil)
	if p, _ := w.run(t, 2*obstaclePause, 100); p.Annotations[v1alpha1.RetryAnnotation] != "the API server can write Service ns/web again" {
		t.Errorf("when the API is back the plan says %q", p.Annotations[v1alpha1.RetryAnnotation])
	}
}
