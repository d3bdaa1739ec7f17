package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
)

// ErrForbiddenCRD is in the error of CheckCRDName.
var ErrForbiddenCRD = errors.New("this API group is of operator lifecycle management itself, whose definitions come with its manager alone: " +
	"a user who may change them decides on every operator of the cluster")

// ErrBuiltInGroup is in the error of CheckCRDName and of CheckOwned for the API groups of Kubernetes itself.
var ErrBuiltInGroup = errors.New("this API group is served by the API server of Kubernetes itself: " +
	"an operator that owned an API of it would give access to objects that are not its own")

// ownGroup is what to do about it.
const ownGroup = "take it out of the bundle, and define what the operator needs in a group of its own"

// builtInGroups are the API groups that the API server of Kubernetes serves itself, the core group among them. Groups whose kinds come from
// elsewhere, such as metrics.k8s.io and gateway.networking.k8s.io, are not.
var builtInGroups = []string{
	"", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io", "authorization.k8s.io",
	"autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "extensions",
	"flowcontrol.apiserver.k8s.io", "imagepolicy.k8s.io", "internal.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy",
	"rbac.authorization.k8s.io", "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io",
}

// CheckCRDName refuses a CustomResourceDefinition of operator lifecycle management, no matter who brings it: another definition of InstallPlans would
// take the content of all of them. It refuses those of the groups of Kubernetes itself as well. The name of a CRD has its group behind the first
// dot, and nothing else says which one is replaced.
func CheckCRDName(name string) error {
	_, group, dotted := strings.Cut(name, ".")
	if !dotted {
		return nil // no name of a CRD: refused as such
	}
	if err := forbiddenGroup(group); err != nil {
		return fmt.Errorf("%s %s: %w", crdKind, name, err)
	}
	return nil
}

// CheckOwned refuses a ClusterServiceVersion that owns an API of operator lifecycle management or of Kubernetes itself, whether or not its bundle
// brings the definition: users of the cluster get access to what an operator owns.
func CheckOwned(csv *v1alpha1.ClusterServiceVersion) error {
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		if err := CheckCRDName(d.Name); err != nil {
			return fmt.Errorf("spec.customresourcedefinitions.owned: %w", err)
		}
	}
	for _, d := range csv.Spec.APIServiceDefinitions.Owned {
		if err := CheckAPIService(d); err != nil {
			return fmt.Errorf("spec.apiservicedefinitions.owned: %w", err)
		}
	}
	return nil
}

// CheckAPIService refuses an aggregated API of operator lifecycle management or of Kubernetes itself.
func CheckAPIService(d v1alpha1.APIServiceDescription) error {
	if err := forbiddenGroup(d.Group); err != nil {
		return fmt.Errorf("APIService %s: %w", d.APIServiceName(), err)
	}
	return nil
}

// forbiddenGroup is why operators have no API of a group.
func forbiddenGroup(group string) error {
	switch {
	case slices.Contains(crds.Groups(), group) || group == packagesv1.GroupName:
		return fmt.Errorf("%w; %s", ErrForbiddenCRD, ownGroup)
	case slices.Contains(builtInGroups, group):
		return fmt.Errorf("%w; %s", ErrBuiltInGroup, ownGroup)
	}
	return nil
}
