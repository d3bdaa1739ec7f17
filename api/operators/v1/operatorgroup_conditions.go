package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewMultipleGroupsCondition says that the namespace has several OperatorGroups.
func NewMultipleGroupsCondition() metav1.Condition {
	return metav1.Condition{
		Type: OperatorGroupMultiple, Status: metav1.ConditionTrue, Reason: OperatorGroupReasonMultiple,
		Message: "Multiple OperatorGroup found in the same namespace",
	}
}

// NewServiceAccountNotFoundCondition says that the named service account does not exist.
func NewServiceAccountNotFoundCondition(name string) metav1.Condition {
	return metav1.Condition{
		Type: OperatorGroupServiceAccount, Status: metav1.ConditionTrue, Reason: OperatorGroupReasonServiceAccountNotFound,
		Message: fmt.Sprintf("ServiceAccount %s not found", name),
	}
}
