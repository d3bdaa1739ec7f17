package installplan

import (
	"context"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// survey is the namespace of a plan that people wrote, as far as its steps depend on it.
type survey struct{ snapshot.Namespace }

func (c resolver) survey(ctx context.Context, plan *v1alpha1.InstallPlan) (*survey, error) {
	s := &survey{snapshot.Namespace{Name: plan.Namespace}}
	var operators v1alpha1.ClusterServiceVersionList
	var subscriptions v1alpha1.SubscriptionList
	var groups operatorsv1.OperatorGroupList
	for kind, list := range map[string]client.ObjectList{"ClusterServiceVersions": &operators, "Subscriptions": &subscriptions, "OperatorGroups": &groups} {
		if err := c.client.List(ctx, list, client.InNamespace(s.Name)); err != nil {
			return nil, fmt.Errorf("list the %s of namespace %s: %w", kind, s.Name, err)
		}
	}
	for i := range operators.Items {
		if !operators.Items[i].IsCopied() {
			s.Operators = append(s.Operators, operators.Items[i])
		}
	}
	for i := range subscriptions.Items { // which tell the packages of operators that do not say it themselves
		if subscriptions.Items[i].Spec != nil {
			s.Subscriptions = append(s.Subscriptions, subscriptions.Items[i])
		}
	}
	s.Groups = groups.Items
	return s, c.surveyCatalogs(ctx, s)
}

// surveyCatalogs lists the catalogs in view, in the order in which they are asked: by priority, then those of the namespace itself,
// then by name.
func (c resolver) surveyCatalogs(ctx context.Context, s *survey) error {
	namespaces := []string{s.Name}
	if global := c.OperatorNamespace; global != "" && global != s.Name && !s.Annotated(v1alpha1.ExcludeGlobalNamespaceAnnotation) {
		namespaces = append(namespaces, global)
	}
	for _, namespace := range namespaces {
		var list v1alpha1.CatalogSourceList
		if err := c.client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list the CatalogSources of namespace %s: %w", namespace, err)
		}
		slices.SortFunc(list.Items, func(a, b v1alpha1.CatalogSource) int {
			return catalog.Ref{Name: a.Name}.Compare(catalog.Ref{Name: b.Name})
		})
		for _, object := range list.Items {
			served, _ := c.Catalogs.Get(catalog.Ref{Namespace: object.Namespace, Name: object.Name})
			s.Sources = append(s.Sources, snapshot.Source{Object: object, Served: served})
		}
	}
	slices.SortStableFunc(s.Sources, func(a, b snapshot.Source) int { return b.Object.Spec.Priority - a.Object.Spec.Priority })
	return nil
}
