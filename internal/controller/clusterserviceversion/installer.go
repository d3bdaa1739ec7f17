package clusterserviceversion

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
)

// accounts gives clients that act as service accounts.
type accounts interface {
	Client(ctx context.Context, namespace, name string) (client.Client, error)
}

// installer is the client that the install strategy is carried out with: the manager's own, or one that has the rights
// of the service account that the OperatorGroup names and no others. It refuses where the namespace does not have exactly one OperatorGroup: while
// the group of an account is replaced, the manager's own rights must not be used.
func (f *facts) installer(ctx context.Context) (client.Client, error) {
	group, err := f.oneGroup(ctx)
	if err != nil {
		return nil, err
	}
	if group.Spec.ServiceAccountName == "" {
		return f.c.client, nil
	}
	if problem := accountProblem(group); problem != "" {
		return nil, refused(fmt.Errorf("%s", problem))
	}
	ref := group.Status.ServiceAccountRef
	return f.c.accounts.Client(ctx, group.Namespace, ref.Name)
}

// oneGroup returns the OperatorGroup of the namespace, and refuses where there is not exactly one.
func (f *facts) oneGroup(ctx context.Context) (*v1.OperatorGroup, error) {
	group, err := f.group(ctx)
	if err == nil && group == nil {
		err = refused(fmt.Errorf("namespace %s does not have exactly one OperatorGroup, which decides with which rights operators are installed: leave one there", f.csv.Namespace))
	}
	return group, err
}

// installedAs says for messages whose rights an install was limited to; empty when it was not.
func (f *facts) installedAs(ctx context.Context) string {
	group, err := f.group(ctx)
	if err != nil || group == nil || group.Spec.ServiceAccountName == "" {
		return ""
	}
	return fmt.Sprintf(" (as ServiceAccount %s/%s of OperatorGroup %s)", group.Namespace, group.Spec.ServiceAccountName, group.Name)
}

// accountProblem says why the service account of a group cannot be acted as yet; empty when it can.
func accountProblem(group *v1.OperatorGroup) string {
	if ref := group.Status.ServiceAccountRef; ref == nil || ref.Name != group.Spec.ServiceAccountName {
		return fmt.Sprintf("please make sure the service account exists. sa=%s operatorgroup=%s/%s", group.Spec.ServiceAccountName, group.Namespace, group.Name)
	}
	return ""
}

// installerMissing looks for a service account that the OperatorGroup names and that does not exist.
func (f *facts) installerMissing(ctx context.Context) (finding, error) {
	group, err := f.group(ctx)
	if err != nil || group == nil || group.Spec.ServiceAccountName == "" {
		return seenNot, err
	}
	problem := accountProblem(group)
	return finding{holds: problem != "", detail: problem}, nil
}
