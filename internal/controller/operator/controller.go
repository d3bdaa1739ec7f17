package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// fieldManager owns the fields that this controller writes.
const fieldManager = client.FieldOwner("fairlead-operator")

// reasonTooManyComponents is the reason of the Event that tells of a list that is not complete.
const reasonTooManyComponents = "TooManyComponents"

// Controller reconciles Operators, which need not be there yet.
type Controller struct {
	client client.Client
	// own reads the kinds of components that the controller has a cache of its own for.
	own    client.Reader
	events record.EventRecorder
	// namespaces are those that the manager is limited to; none for no limit.
	namespaces []string
	clock      clock.PassiveClock

	written reconcile.StatusMemory[v1.OperatorStatus]
}

// Reconcile makes one pass over an Operator and its components. It reports them at once, and labels further ones when these are at rest.
func (c *Controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	step := func(ctx context.Context, operator *v1.Operator) (ctrl.Result, error) {
		return c.pass(ctx, operator.Name, operator)
	}
	return reconcile.Typed[*v1.Operator]{Client: c.client, Owner: fieldManager, Step: step, Deleting: step,
		Gone: func(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
			c.written.Forget(key)
			return c.pass(ctx, key.Name, nil)
		}}.Reconcile(ctx, req)
}

// pass makes a pass over the Operator of a name; nil is one that does not exist.
func (c *Controller) pass(ctx context.Context, name string, operator *v1.Operator) (ctrl.Result, error) {
	key := v1alpha1.ComponentLabel(name)
	// An Operator is the business of the manager of its namespace, which its name ends with. Two managers would otherwise write the same status, each with
	// the components that it sees.
	ours := len(c.namespaces) == 0 || slices.ContainsFunc(c.namespaces, func(namespace string) bool { return strings.HasSuffix(name, "."+namespace) })
	if key == "" || !ours {
		return ctrl.Result{}, nil
	}
	wait, err := c.unrest(ctx, name)
	if err != nil {
		return ctrl.Result{}, err
	}
	var adopted error
	if wait <= 0 {
		adopted = c.adopt(ctx, name, key)
	}
	components, err := c.components(ctx, v1alpha1.ComponentName(name))
	switch {
	case err != nil:
	case len(components) == 0 && wait <= 0 && orphaned(operator):
		err = c.collect(ctx, operator)
	default:
		err = c.report(ctx, name, key, operator, components)
	}
	if err := errors.Join(adopted, err); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: max(wait, 0)}, nil
}

// components are the objects with the label of an Operator.
func (c *Controller) components(ctx context.Context, name string) ([]v1.RichReference, error) {
	var refs []v1.RichReference
	for _, k := range kinds {
		err := c.each(ctx, k, func(o client.Object) error {
			if k.gvk.Kind != v1alpha1.ClusterServiceVersionKind || !v1alpha1.IsCopied(o) {
				refs = append(refs, k.reference(o))
			}
			return nil
		}, client.MatchingFields{indexByOperator: name})
		if err != nil {
			return nil, fmt.Errorf("list the components of Operator %s: %w", name, err)
		}
	}
	return refs, nil
}

// each calls a function with the objects of a kind that are in the cache. They are the cache's own: no one may change them.
func (c *Controller) each(ctx context.Context, k kind, do func(client.Object) error, options ...client.ListOption) error {
	from, list := client.Reader(c.client), k.list()
	if k.own {
		from = c.own
	}
	if err := from.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return fmt.Errorf("list objects of kind %s: %w", k.gvk.Kind, err)
	}
	return meta.EachListItem(list, func(o runtime.Object) error { return do(o.(client.Object)) })
}

// report makes the Operator say what its components are. One that is not there is made for its first component.
func (c *Controller) report(ctx context.Context, name, key string, operator *v1.Operator, components []v1.RichReference) error {
	if operator == nil {
		if len(components) == 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return nil
		}
		operator = &v1.Operator{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{GeneratedAnnotation: "true"}}}
		err := c.client.Create(ctx, operator, fieldManager)
		if apierrors.IsAlreadyExists(err) {
			return nil // an event follows
		}
		if err != nil {
			return fmt.Errorf("create Operator %s: %w", name, err)
		}
	}
	if !operator.DeletionTimestamp.IsZero() {
		return nil
	}
	status, left := statusOf(key, components)
	after, err := reconcile.StatusWriter[*v1.Operator, v1.OperatorStatus]{Client: c.client, Owner: fieldManager, Memory: &c.written, Optimistic: true,
		Status: func(o *v1.Operator) *v1.OperatorStatus { return &o.Status }, States: states}.Write(ctx, operator, status)
	if err != nil && !reconcile.IsOutdated(err) {
		return err
	}
	if left > 0 && after != operator {
		c.events.Eventf(operator, corev1.EventTypeWarning, reasonTooManyComponents,
			"the status lists %d of %d components, because more do not fit into one object; all of them have the label %s, by which kubectl get KIND -A -l %s finds them",
			len(components)-left, len(components), key, key)
	}
	return nil
}

// states are the transitions of an Operator: of how many components its status lists.
func states(s *v1.OperatorStatus) []reconcile.State {
	count := 0
	if s.Components != nil {
		count = len(s.Components.Refs)
	}
	return []reconcile.State{{Type: "Components", Status: fmt.Sprint(count)}}
}

// GeneratedAnnotation is "true" on Operators that this controller has created. Those that others have created it never deletes.
const GeneratedAnnotation = "operators.fairlead.dev/generated"

// orphaned reports whether an Operator without components is to be deleted.
func orphaned(o *v1.Operator) bool {
	return o != nil && o.DeletionTimestamp.IsZero() && o.Annotations[GeneratedAnnotation] == "true"
}

// collect deletes an Operator, unless it has changed: it is created again for the next component.
func (c *Controller) collect(ctx context.Context, o *v1.Operator) error {
	err := c.client.Delete(ctx, o, client.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion})
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete Operator %s, which has no component any more: %w", o.Name, err)
	}
	if err == nil {
		reconcile.Log(ctx, o).Info("Operator deleted", "reason", "it has no component any more")
	}
	return nil
}
