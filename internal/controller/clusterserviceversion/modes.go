package clusterserviceversion

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

func (f *facts) duplicateModes(context.Context) (finding, error) {
	if _, err := v1alpha1.NewInstallModeSet(f.csv.Spec.InstallModes); err != nil {
		return seen(err.Error()), nil
	}
	return seenNot, nil
}

// unsupportedGroup compares the targets of the group with the install modes of the CSV. The message begins with the
// mode that is missing and ends with the group that would do.
func (f *facts) unsupportedGroup(ctx context.Context) (finding, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil {
		return seenNot, err
	}
	modes, err := v1alpha1.NewInstallModeSet(f.csv.Spec.InstallModes)
	if err != nil {
		return seenNot, nil // duplicateModes tells
	}
	missing := modes.Supports(f.csv.Namespace, group.Status.Namespaces)
	if missing == nil {
		return seenNot, nil
	}
	return seen(missing.Error() + "; " + fix(f.csv, group.Name)), nil
}

// fix is the advice to apply an OperatorGroup that the CSV supports: the narrowest one that can be named without asking
// the user. What only the user can know stands in angle brackets. Nulls remove what a group of that name says so far.
func fix(csv *v1alpha1.ClusterServiceVersion, groupName string) string {
	modes, err := v1alpha1.NewInstallModeSet(csv.Spec.InstallModes)
	if err != nil {
		return err.Error()
	}
	spec := map[string]any{}
	switch {
	case modes[v1alpha1.InstallModeTypeOwnNamespace]:
		spec["targetNamespaces"] = []string{csv.Namespace}
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
		"metadata":   map[string]string{"name": groupName, "namespace": csv.Namespace},
		"spec":       spec,
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(group); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the operator supports %s: apply %s", supported(modes), strings.TrimSpace(text.String()))
}

// supported lists the supported install modes.
func supported(modes v1alpha1.InstallModeSet) string {
	var names []string
	for mode, ok := range modes {
		if ok {
			names = append(names, string(mode))
		}
	}
	return strings.Join(slices.Sorted(slices.Values(names)), ", ")
}
