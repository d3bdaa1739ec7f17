package clusterserviceversion

import (
	"context"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
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
	missing := tenancy.Supports(f.csv, group)
	if missing == nil {
		return seenNot, nil
	}
	return seen(missing.Error() + "; " + tenancy.Advice(f.csv, f.csv.Namespace, group.Name)), nil
}
