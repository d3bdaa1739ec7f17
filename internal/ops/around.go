package ops

import (
	"context"
	"fmt"
	"slices"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// around is what stays beside the operator.
func (r *Removal) around(ctx context.Context, reader client.Reader, sub *v1alpha1.Subscription) error {
	var groups operatorsv1.OperatorGroupList
	if err := reader.List(ctx, &groups, client.InNamespace(r.Operator.Namespace)); err != nil {
		return fmt.Errorf("list the OperatorGroups of namespace %s: %w", r.Operator.Namespace, err)
	}
	for _, g := range groups.Items {
		r.Stays = append(r.Stays, Kept{Ref{operatorsv1.GroupVersion.String(), operatorsv1.OperatorGroupKind, g.Namespace, g.Name}, "operators of the namespace share it"})
	}
	r.Stays = append(r.Stays, Kept{Ref{APIVersion: "v1", Kind: "Namespace", Name: r.Operator.Namespace}, "it may hold other things"})
	if sub == nil || sub.Spec == nil {
		return nil
	}
	// The Operator object, which nobody needs when nothing of the operator is left.
	name := sub.Spec.Package + "." + sub.Namespace
	operator := &operatorsv1.Operator{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, operator)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Operator %s: %w", name, err)
	}
	ref := Ref{APIVersion: operatorsv1.GroupVersion.String(), Kind: "Operator", Name: name}
	if r.shared { // the manager would make it again
		r.Stays = append(r.Stays, Kept{ref, "it lists the InstallPlan that stays"})
		return nil
	}
	if slices.ContainsFunc(r.CRDs, func(c CRD) bool { return !c.Goes }) {
		r.Stays = append(r.Stays, Kept{ref, "it lists the CustomResourceDefinitions that stay"})
		return nil
	}
	r.Goes, r.last = append(r.Goes, ref), append(r.last, ref)
	return nil
}
