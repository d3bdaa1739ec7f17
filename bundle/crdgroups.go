package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/crds"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
)

// ErrForbiddenCRD is in the error of CheckCRDName.
var ErrForbiddenCRD = errors.New("this API group is of operator lifecycle management itself, whose definitions come with its manager alone: " +
	"whoever could change them would decide on every operator of the cluster")

// ownGroup is what to do about it.
const ownGroup = "take it out of the bundle, and define what the operator needs in a group of its own"

// CheckCRDName refuses a CustomResourceDefinition of operator lifecycle management, whoever brings it: another definition of InstallPlans would
// take the content of all of them. The name of a CRD has its group behind the first dot, and nothing else says which one is replaced.
func CheckCRDName(name string) error {
	_, group, _ := strings.Cut(name, ".")
	if isLifecycleGroup(group) || group == packagesv1.GroupName {
		return fmt.Errorf("%s %s: %w; %s", crdKind, name, ErrForbiddenCRD, ownGroup)
	}
	return nil
}

// isLifecycleGroup says whether an API group is of operator lifecycle management itself.
func isLifecycleGroup(group string) bool { return slices.Contains(crds.Groups(), group) }
