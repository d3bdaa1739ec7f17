package v1

import (
	"slices"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition types.
const (
	// TypeInstalled says whether a bundle of a ClusterExtension is installed.
	TypeInstalled = "Installed"
	// TypeProgressing says whether the desired state is being worked on, or reached.
	TypeProgressing = "Progressing"
	// TypeAvailable says whether the objects of a revision work.
	TypeAvailable = "Available"
	// TypeSucceeded is True from the first time that a revision was rolled out.
	TypeSucceeded = "Succeeded"
	// TypeServing says whether the content of a ClusterCatalog is served.
	TypeServing = "Serving"
	// TypeDeprecated is True when the package, a channel or the installed bundle is deprecated.
	TypeDeprecated = "Deprecated"
	// TypePackageDeprecated is True when the package is deprecated.
	TypePackageDeprecated = "PackageDeprecated"
	// TypeChannelDeprecated is True when a channel is deprecated.
	TypeChannelDeprecated = "ChannelDeprecated"
	// TypeBundleDeprecated is True when the installed bundle is deprecated.
	TypeBundleDeprecated = "BundleDeprecated"
	// TypeSupported reports whether the installed version is supported, by what its catalog has. It is there when something is installed.
	TypeSupported = "Supported"
)

// Reasons of conditions.
const (
	ReasonSucceeded                = "Succeeded"
	ReasonFailed                   = "Failed"
	ReasonAbsent                   = "Absent"
	ReasonRollingOut               = "RollingOut"
	ReasonRetrying                 = "Retrying"
	ReasonBlocked                  = "Blocked"
	ReasonInvalidConfiguration     = "InvalidConfiguration"
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	ReasonCrashLoopBackOff         = "CrashLoopBackOff"
	ReasonDeprecated               = "Deprecated"
	ReasonNotDeprecated            = "NotDeprecated"
	ReasonDeprecationStatusUnknown = "DeprecationStatusUnknown"

	ReasonAvailable                = "Available"
	ReasonUnavailable              = "Unavailable"
	ReasonUserSpecifiedUnavailable = "UserSpecifiedUnavailable"

	ReasonArchived        = "Archived"
	ReasonReconciling     = "Reconciling"
	ReasonMigrated        = "Migrated"
	ReasonProbesSucceeded = "ProbesSucceeded"
	ReasonProbeFailure    = "ProbeFailure"
)

// ClusterExtensionConditionTypes are the types that every ClusterExtension has, in order.
func ClusterExtensionConditionTypes() []string {
	return []string{TypeInstalled, TypeProgressing, TypeDeprecated, TypePackageDeprecated, TypeChannelDeprecated, TypeBundleDeprecated}
}

// ClusterExtensionReasons are the reasons that the conditions of a ClusterExtension may have.
func ClusterExtensionReasons() []string {
	return []string{
		ReasonSucceeded, ReasonFailed, ReasonAbsent, ReasonRollingOut, ReasonRetrying, ReasonBlocked, ReasonInvalidConfiguration,
		ReasonProgressDeadlineExceeded, ReasonCrashLoopBackOff, ReasonDeprecated, ReasonNotDeprecated, ReasonDeprecationStatusUnknown,
	}
}

// NewCondition makes a condition. SetCondition gives it its transition time.
func NewCondition(conditionType string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: TruncateMessage(message)}
}

// SetCondition adds a condition or replaces the one of the same type, for the given generation of the object. The
// transition time is now when the status is new, else it is kept. It returns whether anything changed.
func SetCondition(conditions *[]metav1.Condition, condition metav1.Condition, generation int64, now metav1.Time) bool {
	condition.ObservedGeneration = generation
	condition.LastTransitionTime = now
	i := slices.IndexFunc(*conditions, func(c metav1.Condition) bool { return c.Type == condition.Type })
	if i < 0 {
		*conditions = append(*conditions, condition)
		return true
	}
	old := &(*conditions)[i]
	if old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}
	changed := *old != condition
	*old = condition
	return changed
}

const (
	// maxMessageLength is the number of bytes that a condition's message may have.
	maxMessageLength = 32768
	// truncationMark ends a message that was cut.
	truncationMark = "\n\n... [message truncated]"
)

// TruncateMessage cuts a message that is too long for a condition, between two characters, and says so at its end.
func TruncateMessage(message string) string {
	if len(message) <= maxMessageLength {
		return message
	}
	cut := maxMessageLength - len(truncationMark)
	for cut > 0 && !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + truncationMark
}
