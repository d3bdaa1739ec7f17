package v1alpha1

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestInstallPlanSetCondition(t *testing.T) {
	var s InstallPlanStatus
	if got := s.GetCondition(InstallPlanInstalled); got.Status != corev1.ConditionUnknown || got.Type != InstallPlanInstalled {
		t.Errorf("a condition that is not there is %+v, want one with the status Unknown", got)
	}
	for i, step := range []struct {
		condition  InstallPlanCondition
		transition int64
		count      int
	}{
		{NewInstallPlanMet(InstallPlanResolved), 0, 1},
		{NewInstallPlanFailed(InstallPlanInstalled, InstallPlanReasonComponentFailed, "a"), 1, 2},
		{NewInstallPlanFailed(InstallPlanInstalled, InstallPlanReasonInstallCheckFailed, "b"), 1, 2},
		{NewInstallPlanMet(InstallPlanInstalled), 3, 2},
	} {
		returned := s.SetCondition(step.condition, second(i))
		got := s.GetCondition(step.condition.Type)
		if !got.Equals(step.condition) || !returned.Equals(got) {
			t.Errorf("step %d: got %+v and returned %+v, want %+v", i, got, returned, step.condition)
		}
		if got.LastUpdateTime.Unix() != int64(i) || got.LastTransitionTime.Unix() != step.transition {
			t.Errorf("step %d: updated at %v, moved at %v; want %d, %d", i, got.LastUpdateTime, got.LastTransitionTime, i, step.transition)
		}
		must.Equal(t, fmt.Sprintf("step %d: there", i), len(s.Conditions), step.count)
	}
}

func TestBundleLookupConditions(t *testing.T) {
	var l BundleLookup
	pending := BundleLookupCondition{Type: BundleLookupPending, Status: corev1.ConditionTrue, Reason: "A"}
	l.SetCondition(pending, second(1))
	pending.Reason = "B"
	l.SetCondition(pending, second(2))
	got := l.GetCondition(BundleLookupPending)
	if len(l.Conditions) != 1 || got.Reason != "B" || got.LastTransitionTime.Unix() != 1 || got.LastUpdateTime.Unix() != 2 {
		t.Errorf("after a new reason: %+v", l.Conditions)
	}
	pending.Status = corev1.ConditionFalse
	l.SetCondition(pending, second(3))
	if got := l.GetCondition(BundleLookupPending); got.LastTransitionTime.Unix() != 3 {
		t.Errorf("after a new status: %+v", got)
	}
	l.RemoveCondition(BundleLookupPending)
	if got := l.GetCondition(BundleLookupPending); got.Status != corev1.ConditionUnknown || len(l.Conditions) != 0 {
		t.Errorf("after removal: %+v", l.Conditions)
	}
}

func TestInstallPlanIsHandWritten(t *testing.T) {
	owned := func(kinds ...string) *InstallPlan {
		p := &InstallPlan{}
		for _, kind := range kinds {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Kind: kind})
		}
		return p
	}
	for name, test := range map[string]struct {
		plan *InstallPlan
		want bool
	}{
		"nobody owns it":          {owned(), true},
		"an application owns it":  {owned("Application"), true},
		"a Subscription made it":  {owned("Subscription"), false},
		"several, one of them is": {owned("Application", "Subscription"), false},
	} {
		must.Equal(t, name, test.plan.IsHandWritten(), test.want)
	}
}
