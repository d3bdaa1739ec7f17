package resolution

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/version"
)

// SupportVerdict is what the condition Supported says, of Subscriptions and ClusterExtensions alike.
type SupportVerdict struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
	// Changes is when it says something else although nothing is done; zero when that does not happen.
	Changes time.Time
}

// JudgeSupport says whether an installed bundle is supported at a time, by what a catalog says of its package. Unreadable is what of that cannot be
// read.
func JudgeSupport(bundle string, v version.VersionRelease, from string, l catalog.Lifecycle, unreadable error, at time.Time) SupportVerdict {
	is := l.Support(v, at)
	out := SupportVerdict{Status: metav1.ConditionFalse, Reason: string(is.State), Message: is.String(), Changes: is.Changes}
	switch is.State {
	case catalog.Supported:
		out.Status = metav1.ConditionTrue
	case catalog.SupportNoData:
		out.Status = metav1.ConditionUnknown
		out.Message = fmt.Sprintf("no data: catalog %s does not say how long %s is supported", from, bundle)
		if unreadable != nil {
			out.Message = "no data: " + messages.Error(unreadable)
		}
	}
	return out
}

// In is how long it is until it says something else; zero when that does not happen.
func (s SupportVerdict) In(now time.Time) time.Duration {
	if s.Changes.IsZero() {
		return 0
	}
	return s.Changes.Sub(now)
}
