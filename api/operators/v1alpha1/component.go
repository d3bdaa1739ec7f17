package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// ComponentName is what component labels call an Operator, which is named after the package and namespace of its Subscription: the name of
// a label has a bound that the name of an object has not.
func ComponentName(operator string) string {
	return strings.TrimRight(operator[:min(len(operator), validation.LabelValueMaxLength)], "._-")
}

// ComponentLabel is the label on the components of an Operator; "" when there can be none.
func ComponentLabel(operator string) string {
	key := ComponentLabelPrefix + ComponentName(operator)
	if len(validation.IsQualifiedName(key)) > 0 {
		return ""
	}
	return key
}

// Settled says whether the phase is one that an operator stays in, rather than one on its way to being installed, exchanged or removed.
func (s *ClusterServiceVersionStatus) Settled() bool {
	return s.Phase == CSVPhaseSucceeded || s.Phase == CSVPhaseFailed
}
