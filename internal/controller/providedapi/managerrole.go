package providedapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/tenancy"
)

// managerRolePrefix begins the names of the manager's own roles; the name of the CRD follows. It is no prefix of the roles for users, which begin with
// the name of the CRD.
const managerRolePrefix = bundle.ManagerRolePrefix

// managerVerbs are what the manager does with custom resources: it compares them with a new schema, has them rewritten when their storage
// version leaves, and deletes them where spec.cleanup of an operator asks for it.
var managerVerbs = []string{"get", "list", "patch", "delete"}

// managed reports whether the manager has to reach the custom resources of a CRD: an InstallPlan brought it or wrote it, or an administrator lets
// operators adopt it or opens it to users. All of that is written by the manager and by users who may write CRDs; a ClusterServiceVersion that lists
// the CRD changes nothing. Kinds of the lifecycle groups and of Kubernetes itself are never among them.
func managed(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if bundle.CheckCRDName(crd.Name) != nil {
		return false
	}
	return len(tenancy.Bringers(crd)) > 0 || tenancy.Origin(crd, "") != "" || crd.Labels[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue ||
		crd.Annotations[v1alpha1.AdoptableByAnnotation] != "" || crd.Labels[v1alpha1.ProvidedRolesLabel] == "true"
}

// applyManagerRole brings the manager's own role for a CRD up to date. It waits for no operator: a plan needs the right before its operator runs, and
// the service account of an OperatorGroup has no part in it.
func (c *Controller) applyManagerRole(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	if !c.managerRoles {
		return nil
	}
	desired := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: managerRolePrefix + crd.Name, Labels: map[string]string{v1alpha1.ManagerAggregationLabel: "true"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: kindCRD, Name: crd.Name, UID: crd.UID}}},
		Rules: []rbacv1.PolicyRule{{Verbs: managerVerbs, APIGroups: []string{crd.Spec.Group}, Resources: []string{crd.Spec.Names.Plural}}},
	}
	live, err := c.read(ctx, desired.Name)
	if err != nil {
		return fmt.Errorf("read ClusterRole %s, which gives the manager access to the custom resources of %s: %w", desired.Name, crd.Name, err)
	}
	if !managed(crd) {
		// Remove the role of a CRD that the manager has no more to do with.
		c.squats.Delete(managerRolePrefix + crd.Name)
		if live == nil || foreignToManager(live) != "" || live.Labels[v1alpha1.ManagerAggregationLabel] != "true" {
			return nil
		}
		precondition := client.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}
		if err := c.client.Delete(ctx, live, precondition); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove ClusterRole %s, because no operator brought or may adopt %s: %w", live.Name, crd.Name, err)
		}
		ctrl.LoggerFrom(ctx).Info("removed the ClusterRole by which the manager reached the custom resources of a definition", "role", live.Name, "name", crd.Name)
		return nil
	}
	if why := foreignToManager(live); why != "" {
		c.reportForeign(ctx, crd, kindCRD, live, why)
		// Take the label from a foreign role by which the manager's own role gathers its rules, if this controller gave it the label.
		if !slices.ContainsFunc(live.ManagedFields, isOwnEntry) || live.Labels[v1alpha1.ManagerAggregationLabel] == "" {
			return nil
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": live.ResourceVersion, "labels": map[string]any{v1alpha1.ManagerAggregationLabel: nil}}})
		if err == nil {
			err = c.client.Patch(ctx, live.DeepCopy(), client.RawPatch(types.MergePatchType, patch), fieldManager)
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("take label %s from ClusterRole %s, which is not the manager's: %w", v1alpha1.ManagerAggregationLabel, live.Name, err)
		}
		return nil
	}
	c.squats.Delete(desired.Name)
	if live != nil && upToDate(desired, live) && equality.Semantic.DeepEqual(desired.OwnerReferences, live.OwnerReferences) {
		return nil
	}
	if err := rollout.Assert(ctx, c.client, applied(desired), fieldManager); err != nil {
		return fmt.Errorf("apply ClusterRole %s, which gives the manager access to the custom resources of %s: %w", desired.Name, crd.Name, err)
	}
	return nil
}
