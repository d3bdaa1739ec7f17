package operatorcondition

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
)

// fieldManager owns the fields that this controller writes.
const fieldManager = client.FieldOwner("fairlead-operatorcondition")

// keepingManager owns a status that has conditions of others beside those of the spec.
const keepingManager = fieldManager + "-kept"

// reasonNameTaken is the reason of the Event that tells of an object whose name would be needed.
const reasonNameTaken = "NameTaken"

// lookAgain is when it is looked whether such a name has become free: objects of others are not watched.
const lookAgain = time.Minute

// Controller reconciles OperatorConditions, by the name that they share with their ClusterServiceVersion.
type Controller struct {
	client client.Client
	// live reads what caches leave out.
	live    client.Reader
	events  record.EventRecorder
	written reconcile.StatusMemory[v2.OperatorConditionStatus]
}

// Reconcile makes one pass over an OperatorCondition and its ClusterServiceVersion, one of which may be missing.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*v2.OperatorCondition]{Client: c.client, Owner: fieldManager, Resources: watched,
		Step: func(ctx context.Context, condition *v2.OperatorCondition) (ctrl.Result, error) {
			return c.pass(ctx, client.ObjectKeyFromObject(condition), condition)
		},
		Gone: func(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
			c.written.Forget(key)
			return c.pass(ctx, key, nil)
		}}.Reconcile(ctx, req)
}

// watched are the resources of which a conflict is followed by an event.
var watched = []string{"operatorconditions", "roles", "rolebindings"}

// pass makes a pass over an OperatorCondition; nil is one that does not exist.
func (c *Controller) pass(ctx context.Context, key types.NamespacedName, condition *v2.OperatorCondition) (ctrl.Result, error) {
	condition, err := c.ensure(ctx, key, condition)
	if err != nil || condition == nil {
		return ctrl.Result{}, err
	}
	taken, err := c.permit(ctx, condition)
	if err := errors.Join(c.report(ctx, condition), err); err != nil {
		return ctrl.Result{}, err
	}
	if taken {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	return ctrl.Result{}, nil
}

// ensure makes the OperatorCondition say of its CSV what it should, and returns it; nil when there is none. It goes with its CSV, by way of
// its owner reference.
func (c *Controller) ensure(ctx context.Context, key types.NamespacedName, condition *v2.OperatorCondition) (*v2.OperatorCondition, error) {
	csv := &v1alpha1.ClusterServiceVersion{}
	err := c.client.Get(ctx, key, csv)
	if apierrors.IsNotFound(err) || err == nil && (csv.IsCopied() || !csv.DeletionTimestamp.IsZero()) {
		return condition, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ClusterServiceVersion %s: %w", key, err)
	}
	// What the OperatorCondition of a CSV says of it: who may report, and who reports.
	var spec v2.OperatorConditionSpec
	strategy := csv.Spec.InstallStrategy.StrategySpec
	for _, permission := range slices.Concat(strategy.ClusterPermissions, strategy.Permissions) {
		name := cmp.Or(permission.ServiceAccountName, defaultAccount)
		if !slices.Contains(spec.ServiceAccounts, name) {
			spec.ServiceAccounts = append(spec.ServiceAccounts, name)
		}
	}
	if len(spec.ServiceAccounts) == 0 {
		spec.ServiceAccounts = []string{defaultAccount}
	}
	for _, d := range strategy.DeploymentSpecs {
		spec.Deployments = append(spec.Deployments, d.Name)
	}
	if condition != nil && slices.Equal(condition.Spec.ServiceAccounts, spec.ServiceAccounts) && slices.Equal(condition.Spec.Deployments, spec.Deployments) && owned(condition, csv) {
		return condition, nil
	}
	if condition != nil {
		// Bring an OperatorCondition up to date that is there already. It is no apply request: that would leave what another manager wrote
		// where nothing is desired.
		updated := condition.DeepCopy()
		updated.Spec.ServiceAccounts, updated.Spec.Deployments = spec.ServiceAccounts, spec.Deployments
		desired := conditionOf(csv, spec)
		updated.Labels = maps.Clone(updated.Labels)
		if updated.Labels == nil {
			updated.Labels = map[string]string{}
		}
		maps.Copy(updated.Labels, desired.Labels)
		updated.OwnerReferences = append(slices.DeleteFunc(updated.OwnerReferences, func(r metav1.OwnerReference) bool {
			return r.Kind == v1alpha1.ClusterServiceVersionKind && r.Name == csv.Name
		}), desired.OwnerReferences...)
		patch := client.MergeFromWithOptions(condition, client.MergeFromWithOptimisticLock{})
		if err := c.client.Patch(ctx, updated, patch, fieldManager); err != nil {
			return nil, fmt.Errorf("bring OperatorCondition %s up to date with its ClusterServiceVersion: %w", client.ObjectKeyFromObject(condition), err)
		}
		return updated, nil
	}
	out := &v2.OperatorCondition{}
	if err := c.apply(ctx, conditionOf(csv, spec), out); err != nil {
		return nil, err
	}
	return out, nil
}

func owned(o, by metav1.Object) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == by.GetUID() })
}

// report takes what the operator reports over into the status.
func (c *Controller) report(ctx context.Context, condition *v2.OperatorCondition) error {
	ours := false
	if othersInStatus(condition) {
		live := &v2.OperatorCondition{} // caches do not keep who wrote what
		err := c.live.Get(ctx, client.ObjectKeyFromObject(condition), live)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read who reports in the status of OperatorCondition %s: %w", client.ObjectKeyFromObject(condition), err)
		}
		// Report whether the conditions of the status are as this controller wrote them last, and were all taken from the spec then.
		ours = slices.ContainsFunc(live.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
			var fields struct {
				Status map[string]any `json:"f:status"`
			}
			if e.Manager != string(fieldManager) || e.FieldsV1 == nil || json.Unmarshal(e.FieldsV1.GetRawBytes(), &fields) != nil {
				return false
			}
			_, wrote := fields.Status["f:conditions"]
			return wrote
		})
	}
	w := reconcile.StatusWriter[*v2.OperatorCondition, v2.OperatorConditionStatus]{Client: c.client, Memory: &c.written, Optimistic: true,
		Status: func(condition *v2.OperatorCondition) *v2.OperatorConditionStatus { return &condition.Status },
		States: func(s *v2.OperatorConditionStatus) []reconcile.State { return reconcile.Conditions(s.Conditions) }}
	next := w.Latest(condition).DeepCopy()
	next.Status.Conditions = reported(next, ours)
	// The manager of the field reports whether all of it was taken from the spec: the conditions of a status are one field, which does not tell who wrote
	// which of them, and what an operator reported there must not go because something else was added.
	if w.Owner = fieldManager; othersInStatus(next) {
		w.Owner = keepingManager
	}
	_, err := w.Write(ctx, condition, next.Status)
	return err
}

// permit lets the service accounts of the operator write the OperatorCondition. Their Role and RoleBinding have its name; where something
// else has that, it stays as it is, and that is reported. No one is bound to the Role of another client.
func (c *Controller) permit(ctx context.Context, condition *v2.OperatorCondition) (taken bool, err error) {
	role, binding := roleOf(condition), bindingOf(condition)
	liveRole, liveBinding := &rbacv1.Role{}, &rbacv1.RoleBinding{}
	if err := c.unbind(ctx, condition, binding); err != nil {
		return false, err
	}
	taken, err = c.bring(ctx, condition, role, liveRole, func() bool { return equality.Semantic.DeepEqual(role.Rules, liveRole.Rules) })
	if taken {
		return true, nil
	}
	taken, also := c.bring(ctx, condition, binding, liveBinding, func() bool {
		return equality.Semantic.DeepEqual(binding.Subjects, liveBinding.Subjects) && binding.RoleRef == liveBinding.RoleRef
	})
	return taken, errors.Join(err, also)
}

// unbind deletes the RoleBinding of an OperatorCondition when it is to another role, which cannot be changed in place.
func (c *Controller) unbind(ctx context.Context, condition *v2.OperatorCondition, desired *rbacv1.RoleBinding) error {
	live := &rbacv1.RoleBinding{}
	err := c.client.Get(ctx, client.ObjectKeyFromObject(desired), live)
	if err == nil && owned(live, condition) && live.RoleRef != desired.RoleRef {
		err = c.client.Delete(ctx, live, client.Preconditions{UID: &live.UID})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("replace RoleBinding %s, which is to another role: %w", client.ObjectKeyFromObject(desired), err)
	}
	return nil
}

// bring makes the cluster have an object unless it is there already as it should be, or its name is taken.
func (c *Controller) bring(ctx context.Context, condition *v2.OperatorCondition, desired, live client.Object, same func() bool) (taken bool, err error) {
	err = c.client.Get(ctx, client.ObjectKeyFromObject(desired), live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read %T %s: %w", desired, client.ObjectKeyFromObject(desired), err)
	}
	if err == nil && owned(live, condition) && same() {
		return false, nil
	}
	// An object that was not made for an OperatorCondition of this name lacks the label of what is managed, or belongs to something else.
	owners := live.GetOwnerReferences()
	ofAnother := live.GetLabels()[v1alpha1.ManagedLabel] != v1alpha1.ManagedLabelValue || len(owners) > 0 && !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool {
		return r.Kind == v2.OperatorConditionKind && r.Name == condition.Name
	})
	if err == nil && !owned(live, condition) && ofAnother {
		c.events.Eventf(condition, corev1.EventTypeWarning, reasonNameTaken,
			"the operator may not write its OperatorCondition: a %s of the name %s exists already and belongs to another owner; delete or rename it",
			desired.GetObjectKind().GroupVersionKind().Kind, desired.GetName())
		reconcile.Log(ctx, condition).Info("an object that the operator needs belongs to another owner", "reason", reasonNameTaken,
			"object", desired.GetObjectKind().GroupVersionKind().Kind+" "+desired.GetName())
		return true, nil
	}
	return false, c.apply(ctx, desired, live)
}

// apply makes the cluster's object have the fields of the desired one, and reads the answer.
func (c *Controller) apply(ctx context.Context, desired, into client.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return fmt.Errorf("apply %T %s: %w", desired, client.ObjectKeyFromObject(desired), err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	request := &unstructured.Unstructured{Object: content}
	if err := rollout.Assert(ctx, c.client, client.ApplyConfigurationFromUnstructured(request), fieldManager); err != nil {
		return fmt.Errorf("apply %T %s: %w", desired, client.ObjectKeyFromObject(desired), err)
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(request.Object, into)
}
