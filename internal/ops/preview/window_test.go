package preview

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// sunday is when the questions of these tests are asked.
func sunday() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }

// frozen is the configuration of a cluster with a freeze.
func frozen() *operatorsv1.OLMConfig {
	return &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Annotations: map[string]string{schedule.WindowKey: "freeze 2026-11-20..2026-12-01 UTC"}}}
}

// standingOf is how Subscription app stands, with some annotations and an approval.
func standingOf(t *testing.T, r func(client.WithWatch) client.WithWatch, approval v1alpha1.Approval, annotations map[string]string) (Standing, string, *Question) {
	t.Helper()
	objects := append(inNamespace(pushed(t)), frozen())
	sub := objects[0].(*v1alpha1.Subscription)
	sub.Annotations, sub.Spec.InstallPlanApproval = annotations, approval
	reading := reader(t, objects...)
	if r != nil {
		reading = r(reading)
	}
	q := must.Value(Cluster{Reader: reading, Server: server{version: "v1.31.0"}}.Question(t.Context(), "here", "olm"))(t)
	q.windows.now = sunday
	o := must.Value(must.Value(q.Decide(t.Context(), library(t)))(t).Outdated(t.Context()))(t)
	var text strings.Builder
	must.NoError(t, o.Write(&text))
	must.Equal(t, "Subscriptions", len(o.Subscriptions), 1)
	return o.Subscriptions[0], text.String(), q
}

// TestOutdatedSaysUntilWhen an upgrade is held, in text and for programs.
func TestOutdatedSaysUntilWhen(t *testing.T) {
	s, text, _ := standingOf(t, nil, "", nil)
	must.Equal(t, "next", s.Next, "app.v1.1.0")
	must.Equal(t, "until", *s.HeldUntil, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC))
	must.Contain(t, "text", text, "upgrade window, until 2026-12-02T00:00:00Z", "app is held by:\n", "of OLMConfig cluster (freeze 2026-11-20..2026-12-01 UTC)",
		"annotate Subscription app with operators.fairlead.dev/upgrade-now=app.v1.1.0")
	for name, c := range map[string]struct {
		approval    v1alpha1.Approval
		annotations map[string]string
	}{"approved by a person": {v1alpha1.ApprovalManual, nil}, "let through": {"", map[string]string{schedule.NowKey: "1.1.0"}}} {
		s, text, _ = standingOf(t, nil, c.approval, c.annotations)
		must.Equal(t, name+": until", s.HeldUntil, nil)
		must.Lack(t, name+": text", text, "upgrade held", "upgrade window")
	}
	s, text, _ = standingOf(t, nil, "", map[string]string{schedule.WindowKey: "nights"})
	must.Equal(t, "until, of what cannot be read", s.HeldUntil, nil)
	must.Contain(t, "text", text, "annotation operators.fairlead.dev/upgrade-window of Subscription app cannot be read: at character 1")
}

// TestWhoMayNotReadTheRules gets a note, and what the Subscription itself says counts.
func TestWhoMayNotReadTheRules(t *testing.T) {
	forbid := func(c client.WithWatch) client.WithWatch {
		return interceptor.NewClient(c, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if _, is := o.(*operatorsv1.OLMConfig); is {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "olmconfigs"}, "cluster", errors.New("no role"))
			}
			return c.Get(ctx, key, o, opts...)
		}})
	}
	s, _, q := standingOf(t, forbid, "", nil)
	must.Equal(t, "until", s.HeldUntil, nil)
	must.Contain(t, "notes", strings.Join(q.Notes, "\n"), "when those in namespace here may begin is known of the annotations of its objects alone")
	s, _, _ = standingOf(t, forbid, "", map[string]string{schedule.WindowKey: "Mon 01:00-02:00 UTC"})
	must.Equal(t, "until, by its own annotation", *s.HeldUntil, time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC))
}

// TestAnExtensionIsHeld by the namespace that it installs into.
func TestAnExtensionIsHeld(t *testing.T) {
	w, notes, err := readWindows(t.Context(), reader(t, frozen()), []string{"here", "here", "there"})
	must.NoError(t, err)
	must.Empty(t, "notes", notes)
	w.now = sunday
	e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "my-app"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "there"}}
	s := ExtensionStanding{Extension: "my-app"}
	s.Installed, s.Next = "app.v1.0.0", "app.v1.1.0"
	s.heldByWindow(w, e, "1.1.0")
	must.Equal(t, "until", *s.HeldUntil, time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC))
	must.Contain(t, "held by", s.HeldBy, "upgrade held until 2026-12-02T00:00:00Z: app.v1.1.0 waits for")
	first := ExtensionStanding{Extension: "my-app"}
	first.Next = "app.v1.1.0"
	first.heldByWindow(w, e, "1.1.0")
	must.Equal(t, "a first installation is held by", first.HeldBy, "")
}

// TestPlanSaysUntilWhen an upgrade is held, and shows what it changes all the same.
func TestPlanSaysUntilWhen(t *testing.T) {
	frozen := &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Annotations: map[string]string{schedule.WindowKey: "freeze 2020-01-01..2999-12-31 UTC"}}}
	e, objects := installed(t, "1.0.0")
	plan, text := planned(t, planner(t, append(objects, namespace(), frozen)...), e)
	must.Contain(t, "text", text, "upgrade held until 3000-01-01T00:00:00Z: greeter-operator.v1.1.0 waits for")
	must.Equal(t, "changes", plan.Changes(), true)
}
