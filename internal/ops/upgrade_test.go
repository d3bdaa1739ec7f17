package ops

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/busy"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestChangeExtension(t *testing.T) {
	ptr := func(s string) *string { return &s }
	e := newExtension("kite", "kite", func(e *olmv1.ClusterExtension) {
		e.Annotations = map[string]string{"operators.fairlead.dev/rollback-to": "1", "mine": "x"}
		e.Spec.Source.Catalog.Version = "1.0.0"
	})
	c := clusterV1(t, e)
	change := ExtensionChange{Version: ptr(""), Channels: &[]string{"fast"}, Policy: ptr("SelfCertified"), CRDSafety: ptr("None"), Acknowledge: ptr("sha256:1"),
		DryRun: true,
		Annotations: func(*olmv1.ClusterExtension) map[string]string {
			return map[string]string{"operators.fairlead.dev/rollback-to": ""}
		}}
	want := []string{"version: 1.0.0 -> (nothing)", "upgradeConstraintPolicy: CatalogProvided -> SelfCertified", "channels: (nothing) -> fast",
		"crdUpgradeSafety: (nothing) -> None", "annotation operators.fairlead.dev/acknowledged-permissions: (nothing) -> sha256:1", "annotation operators.fairlead.dev/rollback-to: 1 -> (nothing)"}
	for _, dry := range []bool{true, false} {
		change.DryRun = dry
		_, said, err := ChangeExtension(t.Context(), c, "kite", change)
		must.NoError(t, err)
		must.Equal(t, "said", said, want)
	}
	must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "kite"}, e))
	if s := e.Spec.Source.Catalog; s.Version != "" || s.Channels[0] != "fast" || s.UpgradeConstraintPolicy != "SelfCertified" || e.Annotations["mine"] != "x" || len(e.Annotations) != 2 || e.Spec.Install == nil {
		t.Errorf("%+v", e)
	}
	if _, said, err := ChangeExtension(t.Context(), c, "kite", change); err != nil || said != nil {
		t.Errorf("again: %q, %v", said, err)
	}
	if _, _, err := ChangeExtension(t.Context(), c, "none", change); err == nil || !strings.Contains(err.Error(), "read ClusterExtension none") {
		t.Errorf("%v", err)
	}
}

func TestChangeSubscription(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable"}}
	sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames = []string{"kite.v2"}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	c := cluster(t, sub, plan)
	key := client.ObjectKeyFromObject(sub)
	const what = "InstallPlan install-1, which installs kite.v2"

	if said, waits, err := ChangeSubscription(t.Context(), c, key, SubscriptionChange{}); err != nil || said != nil || waits != what {
		t.Errorf("%q, %q, %v", said, waits, err)
	}
	if said, _, err := ChangeSubscription(t.Context(), c, key, SubscriptionChange{Approve: true}); err != nil || len(said) != 1 || said[0] != "approved "+what {
		t.Errorf("%q, %v", said, err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(plan), plan); err != nil || !plan.Spec.Approved {
		t.Errorf("%+v, %v", plan.Spec, err)
	}
	fast := "fast"
	said, waits, err := ChangeSubscription(t.Context(), c, key, SubscriptionChange{Channel: &fast})
	if err != nil || waits != "" || len(said) != 1 || said[0] != "channel: stable -> fast" {
		t.Errorf("%q, %q, %v", said, waits, err)
	}
	if err := c.Get(t.Context(), key, sub); err != nil || sub.Spec.Channel != "fast" || sub.Spec.Package != "kite" {
		t.Errorf("%+v, %v", sub.Spec, err)
	}
	slow := "slow"
	if _, _, err = ChangeSubscription(t.Context(), c, key, SubscriptionChange{Channel: &slow, Approve: true}); err == nil || !strings.Contains(err.Error(), "is of the channel that was: change the channel") {
		t.Errorf("%v", err)
	}
}

// TestChangesOfWhatIsWritten: a status that a controller writes in between is no reason to fail.
func TestChangesOfWhatIsWritten(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite"}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable"}}
	sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}, Status: v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseRequiresApproval}}
	written, fast := 0, "fast"
	c := busy.Client(cluster(t, sub, plan).(client.WithWatch), &written)
	if said, _, err := ChangeSubscription(t.Context(), c, client.ObjectKeyFromObject(sub), SubscriptionChange{Approve: true}); err != nil || len(said) != 1 {
		t.Errorf("approve: %q, %v", said, err)
	}
	if said, _, err := ChangeSubscription(t.Context(), c, client.ObjectKeyFromObject(sub), SubscriptionChange{Channel: &fast}); err != nil || len(said) != 1 {
		t.Errorf("another channel: %q, %v", said, err)
	}
	c = busy.Client(clusterV1(t, newExtension("kite", "kite", nil)).(client.WithWatch), &written)
	e, said, err := ChangeExtension(t.Context(), c, "kite", ExtensionChange{Channels: &[]string{"fast"}})
	if err != nil || len(said) != 1 || e.Labels[busy.Label] == "" {
		t.Errorf("a ClusterExtension: %q, %v", said, err)
	}
	must.Equal(t, "written", written, 3)
}

// TestAPlanOfTheOldChannelIsNotNamed: what waits when the channel changes is of the channel that was.
func TestAPlanOfTheOldChannelIsNotNamed(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", Generation: 1}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite", Channel: "stable"}}
	sub.Status = v1alpha1.SubscriptionStatus{InstallPlanRef: &corev1.ObjectReference{Name: "install-1"}, InstalledCSV: "kite.v1", CurrentCSV: "kite.v2",
		ObservedGeneration: 1, State: v1alpha1.SubscriptionStateUpgradePending}
	waiting := func(name, csv string) *v1alpha1.InstallPlan {
		plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: name}}
		plan.Spec.ClusterServiceVersionNames, plan.Status.Phase = []string{csv}, v1alpha1.InstallPlanPhaseRequiresApproval
		return plan
	}
	c := cluster(t, sub, waiting("install-1", "kite.v2"), waiting("install-2", "kite.v3"))
	key, fast := client.ObjectKeyFromObject(sub), "fast"
	for _, dryRun := range []bool{true, false} {
		said, waits, err := ChangeSubscription(t.Context(), c, key, SubscriptionChange{Channel: &fast, DryRun: dryRun})
		if err != nil || waits != "" || len(said) != 1 {
			t.Errorf("with a dry run (%t): %q, %q, %v", dryRun, said, waits, err)
		}
	}
	// The manager has seen the channel, and the plan of before is still there.
	must.NoError(t, c.Get(t.Context(), key, sub))
	sub.Status.CurrentCSV, sub.Status.State = "kite.v1", v1alpha1.SubscriptionStateUpgradeAvailable
	sub.Status.Conditions = []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "False", Message: "bundle kite.v3 is fetched"}}
	must.NoError(t, c.Status().Update(t.Context(), sub))
	_, err := WaitUpgrade(t.Context(), c, key, func(_, message string) {
		must.Equal(t, "told", message, "bundle kite.v3 is fetched")
		sub.Status.CurrentCSV, sub.Status.State, sub.Status.InstallPlanRef.Name = "kite.v3", v1alpha1.SubscriptionStateUpgradePending, "install-2"
		if err := c.Status().Update(t.Context(), sub); err != nil {
			t.Error(err)
		}
	})
	var waits *WaitsError
	if !errors.As(err, &waits) || waits.Plan != "InstallPlan install-2, which installs kite.v3" {
		t.Errorf("%v", err)
	}
}

func TestWaitUpgrade(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "kite", Generation: 2}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"}}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
	plan.Spec.ClusterServiceVersionNames = []string{"kite.v2"}
	plan.Status.Phase = v1alpha1.InstallPlanPhaseRequiresApproval
	c := cluster(t, sub, plan)
	set := func(generation int64, installed, plan string) {
		sub.Status = v1alpha1.SubscriptionStatus{ObservedGeneration: generation, InstalledCSV: installed, CurrentCSV: "kite.v2",
			Conditions: []v1alpha1.SubscriptionCondition{{Type: "Ready", Status: "True", Message: installed + " runs"}}}
		if plan != "" {
			sub.Status.InstallPlanRef = &corev1.ObjectReference{Name: plan}
		}
		if err := c.Status().Update(t.Context(), sub); err != nil {
			t.Error(err)
		}
	}
	key := client.ObjectKeyFromObject(sub)
	set(2, "kite.v1", "")
	csv, err := WaitUpgrade(t.Context(), c, key, func(_, message string) {
		must.Equal(t, "told", message, "kite.v1 runs")
		set(2, "kite.v2", "")
	})
	if csv != "kite.v2" || err != nil {
		t.Errorf("%q, %v", csv, err)
	}
	set(2, "kite.v1", "install-1")
	if _, err := WaitUpgrade(t.Context(), c, key, func(string, string) {}); err == nil || !strings.Contains(err.Error(), "InstallPlan install-1, which installs kite.v2, waits for approval") {
		t.Errorf("%v", err)
	}
	set(2, "kite.v1", "")
	sub.Status.Conditions[0].Reason, sub.Status.Conditions[0].Message = "UpgradeHeld", "InstallPlan install-1: upgrade held until 2026-11-30T21:00:00Z: kite.v2 waits"
	must.NoError(t, c.Status().Update(t.Context(), sub))
	_, err = WaitUpgrade(t.Context(), c, key, func(string, string) { t.Error("it is not waited for") })
	var held *HeldError
	if !errors.As(err, &held) || !strings.Contains(held.Message, "upgrade held until 2026-11-30T21:00:00Z") {
		t.Errorf("%v", err)
	}
	set(1, "kite.v2", "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := WaitUpgrade(ctx, c, key, func(string, string) {}); err == nil || !strings.Contains(err.Error(), "is the manager running?") {
		t.Errorf("what was before the change counts: %v", err)
	}
}
