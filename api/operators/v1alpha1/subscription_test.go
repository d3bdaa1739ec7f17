package v1alpha1

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestInstallPlanApproval(t *testing.T) {
	for name, tc := range map[string]struct {
		spec *SubscriptionSpec
		want Approval
	}{
		"no spec":       {nil, ApprovalAutomatic},
		"nothing said":  {&SubscriptionSpec{}, ApprovalAutomatic},
		"something odd": {&SubscriptionSpec{InstallPlanApproval: "manual"}, ApprovalAutomatic},
		"automatic":     {&SubscriptionSpec{InstallPlanApproval: ApprovalAutomatic}, ApprovalAutomatic},
		"manual":        {&SubscriptionSpec{InstallPlanApproval: ApprovalManual}, ApprovalManual},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "InstallPlanApproval", (&Subscription{Spec: tc.spec}).InstallPlanApproval(), tc.want)
		})
	}
}

func TestSubscriptionSetCondition(t *testing.T) {
	var s SubscriptionStatus
	failed := func(message string) SubscriptionCondition {
		return NewSubscriptionCondition(SubscriptionResolutionFailed, corev1.ConditionTrue, SubscriptionReasonConstraintsNotSatisfiable, message)
	}
	if !s.SetCondition(failed("a"), second(1)) {
		t.Error("a new condition is no change")
	}
	if s.SetCondition(failed("a"), second(2)) {
		t.Error("the same condition is a change")
	}
	if got := s.GetCondition(SubscriptionResolutionFailed); got.LastHeartbeatTime.Unix() != 1 {
		t.Errorf("the same condition moved the heartbeat to %v", got.LastHeartbeatTime)
	}
	if !s.SetCondition(failed("b"), second(3)) {
		t.Error("another message is no change")
	}
	if got := s.GetCondition(SubscriptionResolutionFailed); got.LastTransitionTime.Unix() != 1 || got.LastHeartbeatTime.Unix() != 3 {
		t.Errorf("another message gives the times %v, %v", got.LastTransitionTime, got.LastHeartbeatTime)
	}
	s.SetCondition(NewSubscriptionCondition(SubscriptionResolutionFailed, corev1.ConditionFalse, "", ""), second(4))
	if got := s.GetCondition(SubscriptionResolutionFailed); got.LastTransitionTime.Unix() != 4 || len(s.Conditions) != 1 {
		t.Errorf("another status gives %d conditions with the time %v", len(s.Conditions), got.LastTransitionTime)
	}
}

func TestSubscriptionRemoveConditions(t *testing.T) {
	var s SubscriptionStatus
	s.SetCondition(NewInstallPlanMissingCondition(), second(1))
	s.SetCondition(NewCatalogsHealthyCondition(), second(1))
	if s.RemoveConditions(SubscriptionInstallPlanFailed) {
		t.Error("removing what is not there is a change")
	}
	if !s.RemoveConditions(SubscriptionInstallPlanFailed, SubscriptionInstallPlanMissing) || len(s.Conditions) != 1 {
		t.Errorf("after removing one of two there are %d", len(s.Conditions))
	}
	if got := s.GetCondition(SubscriptionInstallPlanMissing); got.Status != corev1.ConditionUnknown {
		t.Errorf("the status of what is not there is %s, want Unknown", got.Status)
	}
}

func TestNewInstallPlanCondition(t *testing.T) {
	installed := func(status corev1.ConditionStatus, reason InstallPlanConditionReason) []InstallPlanCondition {
		return []InstallPlanCondition{{Type: InstallPlanInstalled, Status: status, Reason: reason, Message: "text"}}
	}
	for name, tc := range map[string]struct {
		plan InstallPlanStatus
		want *SubscriptionCondition
	}{
		"new":               {InstallPlanStatus{}, &SubscriptionCondition{Type: SubscriptionInstallPlanPending, Reason: "InstallPlanNotYetReconciled"}},
		"planning":          {InstallPlanStatus{Phase: InstallPlanPhasePlanning}, &SubscriptionCondition{Type: SubscriptionInstallPlanPending, Reason: "Planning"}},
		"installing":        {InstallPlanStatus{Phase: InstallPlanPhaseInstalling}, &SubscriptionCondition{Type: SubscriptionInstallPlanPending, Reason: "Installing"}},
		"requires approval": {InstallPlanStatus{Phase: InstallPlanPhaseRequiresApproval}, &SubscriptionCondition{Type: SubscriptionInstallPlanPending, Reason: "RequiresApproval"}},
		"failed with a reason": {
			InstallPlanStatus{Phase: InstallPlanPhaseFailed, Conditions: installed(corev1.ConditionFalse, InstallPlanReasonComponentFailed)},
			&SubscriptionCondition{Type: SubscriptionInstallPlanFailed, Reason: "InstallComponentFailed", Message: "text"},
		},
		"failed otherwise": {
			InstallPlanStatus{Phase: InstallPlanPhaseFailed, Conditions: installed(corev1.ConditionTrue, InstallPlanReasonComponentFailed)},
			&SubscriptionCondition{Type: SubscriptionInstallPlanFailed, Reason: "InstallPlanFailed", Message: "text"},
		},
		"complete": {InstallPlanStatus{Phase: InstallPlanPhaseComplete}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, some := NewInstallPlanCondition(&tc.plan)
			if some != (tc.want != nil) {
				t.Fatalf("there is a condition: %t", some)
			}
			if !some {
				return
			}
			tc.want.Status = corev1.ConditionTrue
			must.Equal(t, "the condition differs", got, *tc.want)
		})
	}
}

func TestCatalogConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		got    SubscriptionCondition
		status corev1.ConditionStatus
		reason string
	}{
		"healthy":   {NewCatalogsHealthyCondition(), corev1.ConditionFalse, "AllCatalogSourcesHealthy"},
		"unhealthy": {NewCatalogsUnhealthyCondition("a"), corev1.ConditionTrue, "UnhealthyCatalogSourceFound"},
		"none":      {NewNoCatalogsCondition(), corev1.ConditionTrue, "NoCatalogSourcesFound"},
	} {
		if tc.got.Type != SubscriptionCatalogSourcesUnhealthy || tc.got.Status != tc.status || tc.got.Reason != tc.reason || tc.got.Message == "" {
			t.Errorf("%s gives %+v", name, tc.got)
		}
	}
}

func TestCatalogHealthEquals(t *testing.T) {
	now, later := second(1), second(2)
	one := SubscriptionCatalogHealth{CatalogSourceRef: &corev1.ObjectReference{UID: "1"}, Healthy: true, LastUpdated: &now}
	for name, tc := range map[string]struct {
		other SubscriptionCatalogHealth
		want  bool
	}{
		"later":         {SubscriptionCatalogHealth{CatalogSourceRef: &corev1.ObjectReference{UID: "1", ResourceVersion: "2"}, Healthy: true, LastUpdated: &later}, true},
		"other catalog": {SubscriptionCatalogHealth{CatalogSourceRef: &corev1.ObjectReference{UID: "2"}, Healthy: true}, false},
		"unhealthy":     {SubscriptionCatalogHealth{CatalogSourceRef: &corev1.ObjectReference{UID: "1"}}, false},
		"no catalog":    {SubscriptionCatalogHealth{Healthy: true}, false},
	} {
		must.Equal(t, fmt.Sprintf("%s: equal", name), one.Equals(tc.other), tc.want)
		must.Equal(t, fmt.Sprintf("%s, the other way: equal", name), tc.other.Equals(one), tc.want)
	}
}
