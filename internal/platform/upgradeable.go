package platform

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
)

// Reasons of the condition Upgradeable.
const (
	ReasonCompatible   = "OperatorsCompatible"
	ReasonIncompatible = "IncompatibleOperatorsInstalled"
	ReasonUnknown      = "ErrorCheckingOperatorCompatibility"
)

// maxNamed is how many operators a message names.
const maxNamed = 50

// Installed is an operator on a cluster.
type Installed struct {
	// Name says which one it is to people.
	Name string
	// Properties are those of its bundle, in the form of the annotation olm.properties.
	Properties string
}

// Verdict is whether a cluster may be upgraded to its next minor version with the operators that it has.
type Verdict struct {
	Upgradeable bool
	Reason      string
	Message     string
}

// Upgradeable judges a cluster of a version of OpenShift. What cannot be told is not upgradeable: an upgrade of the cluster cannot be undone.
func Upgradeable(clusterVersion string, installed []Installed) Verdict {
	current, err := ParseRelease(clusterVersion)
	if err != nil {
		return Verdict{Reason: ReasonUnknown, Message: fmt.Sprintf("the version of the cluster cannot be read, so it is not known which operators work on the next one: %v", err)}
	}
	next := current.Next()
	var unknown, incompatible []string
	for _, operator := range installed {
		last, err := MaxOpenShift(operator.Properties)
		switch {
		case err != nil:
			unknown = append(unknown, fmt.Sprintf("%s: %v", operator.Name, err))
		case last != nil && last.Compare(next) < 0:
			incompatible = append(incompatible, fmt.Sprintf("%s works on OpenShift up to %s", operator.Name, last))
		}
	}
	slices.Sort(incompatible)
	switch {
	case len(unknown) > 0:
		unknown = append(unknown, incompatible...)
		slices.Sort(unknown)
		return Verdict{Reason: ReasonUnknown, Message: fmt.Sprintf("it is not known whether all operators work on OpenShift %s; upgrade or remove those that do not say so properly: %s", next, safetext.List(unknown, maxNamed, "; "))}
	case len(incompatible) > 0:
		return Verdict{Reason: ReasonIncompatible, Message: fmt.Sprintf("operators are installed that are not known to work on OpenShift %s; upgrade or remove them first: %s", next, safetext.List(incompatible, maxNamed, "; "))}
	}
	return Verdict{Upgradeable: true, Reason: ReasonCompatible, Message: fmt.Sprintf("no installed operator excludes OpenShift %s", next)}
}
