package subscription

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// state is a namespace as it was observed.
type state struct {
	snapshot.Namespace
	newest int             // the highest generation of all plans, those that are being deleted included
	taken  map[string]bool // the names of all plans
	*judgements
}

// observe gathers all that the decision for a namespace depends on.
func (c *Controller) observe(ctx context.Context, reader client.Reader, namespace string) (*state, error) {
	s := &state{judgements: c.judgements, Namespace: snapshot.Namespace{Name: namespace, Kubernetes: c.kubernetes(ctx)}}
	var subscriptions v1alpha1.SubscriptionList
	if err := reader.List(ctx, &subscriptions, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the Subscriptions of namespace %s: %w", namespace, err)
	}
	for _, sub := range subscriptions.Items {
		if sub.Spec != nil && sub.DeletionTimestamp.IsZero() {
			s.Subscriptions = append(s.Subscriptions, sub)
		}
	}
	if len(s.Subscriptions) == 0 {
		return s, nil
	}
	slices.SortFunc(s.Subscriptions, func(a, b v1alpha1.Subscription) int { return cmp.Compare(a.Name, b.Name) })
	var groups operatorsv1.OperatorGroupList
	if err := reader.List(ctx, &groups, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups of namespace %s: %w", namespace, err)
	}
	s.Groups = groups.Items
	// Read the plans before the operators: of a plan that is complete by then, the operators are seen. The other way round a plan that
	// another manager has carried out in between would seem to be complete although nothing came of it, and be made once more.
	var plans v1alpha1.InstallPlanList
	if err := reader.List(ctx, &plans, client.InNamespace(s.Name)); err != nil {
		return nil, fmt.Errorf("list the InstallPlans of namespace %s: %w", s.Name, err)
	}
	s.taken = map[string]bool{}
	for _, p := range plans.Items {
		s.newest, s.taken[p.Name] = max(s.newest, p.Spec.Generation), true
		if p.DeletionTimestamp.IsZero() {
			s.Plans = append(s.Plans, p)
		}
	}
	// The newest plan first: of several that concern the same operator it is the one that counts.
	slices.SortFunc(s.Plans, func(a, b v1alpha1.InstallPlan) int {
		return cmp.Or(cmp.Compare(b.Spec.Generation, a.Spec.Generation),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	var operators v1alpha1.ClusterServiceVersionList
	if err := reader.List(ctx, &operators, client.InNamespace(s.Name)); err != nil {
		return nil, fmt.Errorf("list the ClusterServiceVersions of namespace %s: %w", s.Name, err)
	}
	for _, csv := range operators.Items {
		if !csv.IsCopied() {
			s.Operators = append(s.Operators, csv)
		}
	}
	// The catalogs of the namespace and, unless its OperatorGroup says otherwise, the global ones.
	namespaces := []string{s.Name}
	if c.GlobalNamespace != "" && c.GlobalNamespace != s.Name && !s.Annotated(v1alpha1.ExcludeGlobalNamespaceAnnotation) {
		namespaces = append(namespaces, c.GlobalNamespace)
	}
	for _, namespace := range namespaces {
		var list v1alpha1.CatalogSourceList
		if err := c.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("list the CatalogSources of namespace %s: %w", namespace, err)
		}
		for _, object := range list.Items {
			served, _ := c.Catalogs.Get(catalog.Ref{Namespace: object.Namespace, Name: object.Name})
			s.Sources = append(s.Sources, snapshot.Source{Object: object, Served: served})
		}
	}
	slices.SortFunc(s.Sources, func(a, b snapshot.Source) int { return a.Ref().Compare(b.Ref()) })
	return s, nil
}
