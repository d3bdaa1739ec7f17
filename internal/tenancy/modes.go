package tenancy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Modes are the install modes of an operator. One that it does not list is not supported, unless another one implies it:
// who can watch several namespaces can watch one.
func Modes(csv *v1alpha1.ClusterServiceVersion) (v1alpha1.InstallModeSet, error) {
	modes, err := v1alpha1.NewInstallModeSet(csv.Spec.InstallModes)
	if err != nil {
		return nil, err
	}
	if _, said := modes[v1alpha1.InstallModeTypeSingleNamespace]; !said && modes[v1alpha1.InstallModeTypeMultiNamespace] {
		modes[v1alpha1.InstallModeTypeSingleNamespace] = true
	}
	return modes, nil
}

// Supports is nil when the operator can watch the targets of the group, and else tells which install mode is missing.
func Supports(csv *v1alpha1.ClusterServiceVersion, group *v1.OperatorGroup) error {
	modes, err := Modes(csv)
	if err != nil {
		return err
	}
	return modes.Supports(group.Namespace, group.Status.Namespaces)
}

// Advice is to apply an OperatorGroup that the operator supports: the narrowest one that can be named without asking the
// user. What only the user can know stands in angle brackets. Nulls remove what a group of that name says so far.
func Advice(csv *v1alpha1.ClusterServiceVersion, namespace, groupName string) string {
	modes, err := Modes(csv)
	if err != nil {
		return err.Error()
	}
	spec := map[string]any{}
	switch {
	case modes[v1alpha1.InstallModeTypeOwnNamespace]:
		spec["targetNamespaces"] = []string{namespace}
	case modes[v1alpha1.InstallModeTypeAllNamespaces]:
		spec["targetNamespaces"], spec["selector"] = nil, nil
	case modes[v1alpha1.InstallModeTypeSingleNamespace]:
		spec["targetNamespaces"] = []string{"<namespace to watch>"}
	case modes[v1alpha1.InstallModeTypeMultiNamespace]:
		spec["targetNamespaces"] = []string{"<namespace to watch>", "<another one>"}
	default:
		return "the operator supports no install mode at all: its author has to set one in spec.installModes"
	}
	group := map[string]any{
		"apiVersion": v1.GroupVersion.String(),
		"kind":       "OperatorGroup",
		"metadata":   map[string]string{"name": groupName, "namespace": namespace},
		"spec":       spec,
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(group); err != nil {
		return err.Error()
	}
	// List the supported install modes.
	var names []string
	for mode, ok := range modes {
		if ok {
			names = append(names, string(mode))
		}
	}
	return fmt.Sprintf("the operator supports %s: apply %s", strings.Join(slices.Sorted(slices.Values(names)), ", "), strings.TrimSpace(text.String()))
}
