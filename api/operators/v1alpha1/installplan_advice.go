package v1alpha1

import "strings"

// What begins the message of an InstallPlan that waits for approval, where it says what approving it would lead to: that it or its operators fail, or that
// a version of an API goes which is served. Commands repeat it, and the message is withdrawn when it is no longer so.
const (
	NotWorthApproving = "not worth approving as it is: "
	ApproveWithCare   = "approve with care: "
)

// IsApprovalAdvice reports whether a message says what approving an InstallPlan would lead to.
func IsApprovalAdvice(message string) bool {
	return strings.HasPrefix(message, NotWorthApproving) || strings.HasPrefix(message, ApproveWithCare)
}
