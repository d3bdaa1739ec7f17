package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// beyondTargets looks for permissions that the operator has by way of its group, outside of what the group targets now.
// Where it is not known what that is, because there are several groups or the group has not selected yet, nothing is.
func (f *facts) beyondTargets(ctx context.Context) (finding, error) {
	if f.withdrawn {
		return seenNot, nil // the cache may still show them
	}
	beyond, err := f.findBeyond(ctx)
	if err != nil || len(beyond) == 0 {
		return seenNot, err
	}
	return seen(fmt.Sprintf("%s %s", kindOf(beyond[0]), client.ObjectKeyFromObject(beyond[0]))), nil
}

func (f *facts) findBeyond(ctx context.Context) ([]client.Object, error) {
	groups, err := f.listGroups(ctx)
	if err != nil || len(groups) > 1 || len(groups) == 1 && unsynced(&groups[0]) {
		return nil, err
	}
	targets, err := f.targets(ctx)
	if err != nil {
		return nil, err
	}
	owned, err := f.ownedRoles(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Contains(targets, metav1.NamespaceAll)
	return f.surplus(owned, func(o client.Object) bool {
		if o.GetNamespace() == "" {
			return all
		}
		return !all && slices.Contains(targets, o.GetNamespace())
	}), nil
}

// withdraw takes away the permissions outside of what the group targets now.
func (f *facts) withdraw(ctx context.Context) error {
	f.withdrawn = true
	beyond, err := f.findBeyond(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range beyond {
		errs = append(errs, removeAs(ctx, f.c.client, o, thatOne(o)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take away the permissions of ClusterServiceVersion %s outside of the target namespaces: %w", f.name(), err)
	}
	f.wanted = nil
	return nil
}
