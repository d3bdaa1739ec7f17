package v1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFailForward(t *testing.T) {
	for strategy, want := range map[UpgradeStrategy]bool{
		"": false, UpgradeStrategyDefault: false, "Unknown": false, UpgradeStrategyUnsafeFailForward: true,
	} {
		group := &OperatorGroup{Spec: OperatorGroupSpec{UpgradeStrategy: strategy}}
		if got := group.FailForward(); got != want {
			t.Errorf("%q fails forward: %t, want %t", strategy, got, want)
		}
	}
}

func TestOperatorGroupConditions(t *testing.T) {
	for name, tc := range map[string]struct{ got, want metav1.Condition }{
		"several groups": {NewMultipleGroupsCondition(), metav1.Condition{
			Type: "MultipleOperatorGroup", Status: "True", Reason: "MultipleOperatorGroupsFound", Message: "Multiple OperatorGroup found in the same namespace",
		}},
		"no account": {NewServiceAccountNotFoundCondition("a"), metav1.Condition{
			Type: "OperatorGroupServiceAccount", Status: "True", Reason: "ServiceAccountNotFound", Message: "ServiceAccount a not found",
		}},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, tc.got, tc.want)
		}
	}
}
