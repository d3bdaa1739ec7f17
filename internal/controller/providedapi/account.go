package providedapi

import (
	"context"
	"errors"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/rollout/permissions"
)

// missing is what the service account of a group lacks to write the ClusterRoles of APIs itself, by the rules of the API server against privilege
// escalation: it holds the rights that they hand on in the whole cluster, or may escalate. It is empty when nothing is missing.
func (c *Controller) missing(ctx context.Context, group *operatorsv1.OperatorGroup, apis []api) (string, error) {
	var objects []*unstructured.Unstructured
	for _, a := range apis {
		for _, role := range a.roles() {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(role)
			if err != nil {
				return "", fmt.Errorf("convert ClusterRole %s: %w", role.Name, err)
			}
			u := &unstructured.Unstructured{Object: content}
			u.SetGroupVersionKind(rbacv1.SchemeGroupVersion.WithKind("ClusterRole"))
			objects = append(objects, u)
		}
	}
	if len(objects) == 0 {
		return "", nil
	}
	mapper := c.client.RESTMapper()
	source, err := permissions.Read(ctx, c.client, mapper, objects)
	if err != nil {
		return "", err
	}
	rules, err := permissions.Missing(permissions.ServiceAccount(group.Namespace, group.Spec.ServiceAccountName), source, objects)
	var incomplete *permissions.IncompleteError
	switch {
	case errors.As(err, &incomplete):
		return incomplete.Error(), nil
	case err != nil || len(rules) == 0:
		return "", err
	case len(rules) == 1:
		return rules[0].String(), nil
	}
	return fmt.Sprintf("%s and %d more rules", rules[0], len(rules)-1), nil
}
