package preview

import (
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ask adds objects that a user would create to those of the question: Subscriptions, OperatorGroups and ClusterExtensions, each in the place of one of its
// name. Other kinds decide nothing.
func (q *Question) Ask(objects ...client.Object) {
	o := &q.Objects
	for _, object := range objects {
		switch object := object.(type) {
		case *v1alpha1.Subscription:
			o.Subscriptions = replaced(o.Subscriptions, *object, func(s *v1alpha1.Subscription) string { return s.Name })
		case *operatorsv1.OperatorGroup:
			o.Groups = replaced(o.Groups, *object, func(g *operatorsv1.OperatorGroup) string { return g.Name })
		case *olmv1.ClusterExtension:
			o.Extensions = replaced(o.Extensions, *object, func(e *olmv1.ClusterExtension) string { return e.Name })
		}
	}
}

// replaced is a list with an object in the place of the one of its name, or at the end.
func replaced[T any](all []T, one T, name func(*T) string) []T {
	all = slices.Clone(all)
	for i := range all {
		if name(&all[i]) == name(&one) {
			all[i] = one
			return all
		}
	}
	return append(all, one)
}
