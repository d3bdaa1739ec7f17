package clusterserviceversion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// defaultAccount is meant where a permission names no service account.
const defaultAccount = "default"

// accountRows checks that each service account exists and holds the rules that the operator asks for, wherever they
// come from. There is a row for each account, by name, with a dependent for each rule.
func (f *facts) accountRows(ctx context.Context) ([]v1alpha1.RequirementStatus, error) {
	strategy := f.csv.Spec.InstallStrategy.StrategySpec
	compared := &comparing{left: maxComparisons}
	var rows []v1alpha1.RequirementStatus
	for _, name := range accountNames(strategy) {
		row := v1alpha1.RequirementStatus{Version: "v1", Kind: "ServiceAccount", Name: name}
		account, err := f.readAccount(ctx, name)
		if err != nil {
			return nil, err
		}
		switch {
		case account == nil:
			row.Status, row.Message = v1alpha1.RequirementStatusReasonNotPresent, "Service account does not exist"
		case f.ownedByOthers(account):
			row.Status, row.Message = v1alpha1.RequirementStatusReasonPresentNotSatisfied, "Service account is owned by another ClusterServiceVersion"
		default:
			row.Status, row.UUID = v1alpha1.RequirementStatusReasonPresent, string(account.UID)
		}
		if account != nil {
			if err := f.checkPermissions(ctx, compared, &row, strategy); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// accountNames are the service accounts that the permissions are for, sorted.
func accountNames(strategy v1alpha1.StrategyDetailsDeployment) []string {
	var names []string
	for _, permission := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		names = append(names, accountName(permission))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func accountName(permission v1alpha1.StrategyDeploymentPermissions) string {
	if permission.ServiceAccountName == "" {
		return defaultAccount
	}
	return permission.ServiceAccountName
}

// readAccount reads the metadata of a service account of the namespace; nil when it does not exist.
func (f *facts) readAccount(ctx context.Context, name string) (*metav1.PartialObjectMetadata, error) {
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccount"))
	err := f.c.client.Get(ctx, key(f.csv.Namespace, name), account)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ServiceAccount %s/%s: %w", f.csv.Namespace, name, err)
	}
	return account, nil
}

// ownedByOthers says whether an object belongs to ClusterServiceVersions, but not to this one. An object that belongs to
// none can be used by all.
func (f *facts) ownedByOthers(object metav1.Object) bool {
	others := false
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind != v1alpha1.ClusterServiceVersionKind {
			continue
		}
		if owner.Name == f.csv.Name && owner.UID == f.csv.UID {
			return false
		}
		others = true
	}
	return others
}

// checkPermissions adds the dependents to the row of a service account.
func (f *facts) checkPermissions(ctx context.Context, compared *comparing, row *v1alpha1.RequirementStatus, strategy v1alpha1.StrategyDetailsDeployment) error {
	cluster, err := f.clusterRules(ctx, row.Name)
	if err != nil {
		return err
	}
	namespaced, err := f.namespaceRules(ctx, row.Name)
	if err != nil {
		return err
	}
	if err := addDependents(ctx, compared, row, strategy.Permissions, "namespaced rule:", append(namespaced, cluster...)); err != nil {
		return err
	}
	return addDependents(ctx, compared, row, strategy.ClusterPermissions, "cluster rule:", cluster)
}

// addDependents adds what becomes of each rule that is asked for. One that is too large to be told of is not satisfied, and says so.
func addDependents(ctx context.Context, compared *comparing, row *v1alpha1.RequirementStatus, permissions []v1alpha1.StrategyDeploymentPermissions, prefix string, granted []rbacv1.PolicyRule) error {
	for _, permission := range permissions {
		if accountName(permission) != row.Name {
			continue
		}
		for _, rule := range permission.Rules {
			dependent := v1alpha1.DependentStatus{
				Group:   rbacv1.GroupName,
				Version: "v1",
				Kind:    "PolicyRule",
				Status:  v1alpha1.DependentStatusReasonSatisfied,
				Message: prefix + ruleText(rule),
			}
			ok, err := compared.grants(ctx, granted, rule)
			if errors.As(err, &tooManyError{}) {
				dependent.Message += ": " + err.Error()
			} else if err != nil {
				return fmt.Errorf("compare the permissions of service account %s with what ClusterServiceVersion asks for: %w", row.Name, err)
			}
			if !ok {
				dependent.Status = v1alpha1.DependentStatusReasonNotSatisfied
				if row.Status == v1alpha1.RequirementStatusReasonPresent {
					row.Status, row.Message = v1alpha1.RequirementStatusReasonPresentNotSatisfied, "Service account lacks permissions"
				}
			}
			row.Dependents = append(row.Dependents, dependent)
		}
	}
	return nil
}

func ruleText(rule rbacv1.PolicyRule) string {
	text, err := json.Marshal(rule)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
