package v1

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestFailForward(t *testing.T) {
	for strategy, want := range map[UpgradeStrategy]bool{
		"": false, UpgradeStrategyDefault: false, "Unknown": false, UpgradeStrategyUnsafeFailForward: true,
	} {
		group := &OperatorGroup{Spec: OperatorGroupSpec{UpgradeStrategy: strategy}}
		must.Equal(t, fmt.Sprintf("%q fails forward", strategy), group.FailForward(), want)
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
		must.Equal(t, name+": tc.got", tc.got, tc.want)
	}
}
