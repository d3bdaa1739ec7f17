package registryv1

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
)

// operatorCondition is where the operator says whether it can be upgraded. Only the fields that are not the operator's or an administrator's are
// set. The controller of OperatorConditions makes the Role and the RoleBinding with which the service accounts may write it.
func (r *renderer) operatorCondition() ([]runtime.Object, error) {
	if r.options.OperatorCondition == "" {
		return nil, nil
	}
	var accounts, deployments []string
	strategy := r.csv.Spec.InstallStrategy.StrategySpec
	for _, d := range strategy.DeploymentSpecs {
		deployments = append(deployments, d.Name)
		accounts = append(accounts, cmp.Or(d.Spec.Template.Spec.ServiceAccountName, defaultServiceAccount))
	}
	for _, permission := range slices.Concat(strategy.ClusterPermissions, strategy.Permissions) {
		accounts = append(accounts, accountName(permission))
	}
	slices.Sort(accounts)
	out := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"serviceAccounts": anyList(slices.Compact(accounts)),
		"deployments":     anyList(deployments),
	}}}
	out.SetGroupVersionKind(v2.GroupVersion.WithKind(v2.OperatorConditionKind))
	out.SetNamespace(r.options.Namespace)
	out.SetName(r.options.OperatorCondition)
	out.SetLabels(map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	return []runtime.Object{out}, nil
}
