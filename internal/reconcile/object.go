package reconcile

import (
	"context"
	"fmt"
	"reflect"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Typed reconciles the objects of one kind. It reads the object of a request, runs the step that its state calls for, and turns what the step
// returns into what the queue does next. T is a pointer to the type of the kind.
type Typed[T client.Object] struct {
	Client client.Client
	// Step reconciles an object that is not being deleted.
	Step func(context.Context, T) (reconcile.Result, error)
	// Deleting runs instead while the object has a deletion timestamp. It calls RemoveFinalizer when it is done. Nil does nothing.
	Deleting func(context.Context, T) (reconcile.Result, error)
	// Gone runs when the object of a request does not exist. Nil does nothing.
	Gone func(context.Context, types.NamespacedName) (reconcile.Result, error)
	// Finalizer, if any, is added by Owner before the first Step.
	Finalizer string
	Owner     client.FieldOwner
	// Resources are those that the controller watches: a conflict about one of their objects is followed by an event.
	Resources []string
}

// Reconcile implements reconcile.Reconciler.
func (t Typed[T]) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	err := t.Client.Get(ctx, request.NamespacedName, object)
	step := t.Step
	switch {
	case apierrors.IsNotFound(err) && t.Gone == nil:
		return reconcile.Result{}, nil
	case apierrors.IsNotFound(err):
		result, err := t.Gone(ctx, request.NamespacedName)
		return Result(result, IgnoreSuperseded(err, t.Resources...))
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("read %s %s: %w", kindOf(object), Name(object, request.NamespacedName), err)
	case !object.GetDeletionTimestamp().IsZero():
		step = t.Deleting
	}
	if step == nil {
		return reconcile.Result{}, nil
	}
	ctx = context.WithValue(ctx, subject{}, request.NamespacedName)
	ctx = ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("kind", kindOf(object), "generation", object.GetGeneration()))
	if t.Finalizer != "" && object.GetDeletionTimestamp().IsZero() {
		before := object.DeepCopyObject().(client.Object)
		if controllerutil.AddFinalizer(object, t.Finalizer) {
			if err := t.Client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), t.Owner); err != nil {
				err = fmt.Errorf("add the finalizer %s to %s %s: %w", t.Finalizer, kindOf(object), Name(object), err)
				return Result(reconcile.Result{}, IgnoreSuperseded(err, t.Resources...))
			}
		}
	}
	result, err := step(ctx, object)
	result, err = Result(result, IgnoreSuperseded(err, t.Resources...)) // the queue drops the times of a pass that failed
	ctrl.LoggerFrom(ctx).V(1).Info("reconciled", "requeueAfter", result.RequeueAfter, "failed", err != nil)
	return result, err
}

// RemoveFinalizer removes a finalizer from an object that has it, unless the object has changed since it was read. An object that no longer
// exists needs nothing.
func RemoveFinalizer(ctx context.Context, c client.Writer, object client.Object, finalizer string, owner client.FieldOwner) error {
	before := object.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(object, finalizer) {
		return nil
	}
	err := c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), owner)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer %s from %s %s: %w", finalizer, kindOf(object), Name(object), err)
	}
	return nil
}

// subject is the key of the name of the object that a pass is about, in its context.
type subject struct{}

// Log returns the logger of a pass for lines about an object: with its kind, namespace, name and generation, each once.
func Log(ctx context.Context, object client.Object) logr.Logger {
	log := ctrl.LoggerFrom(ctx)
	if of, ok := ctx.Value(subject{}).(types.NamespacedName); ok && of == client.ObjectKeyFromObject(object) {
		return log
	}
	return log.WithValues("kind", kindOf(object), "namespace", object.GetNamespace(), "name", object.GetName(), "generation", object.GetGeneration())
}

// Name is the namespace and name of an object, or of the key that it is read by: the name alone where there is no namespace.
func Name(object client.Object, key ...types.NamespacedName) string {
	at := client.ObjectKeyFromObject(object)
	if len(key) > 0 {
		at = key[0]
	}
	if at.Namespace == "" {
		return at.Name
	}
	return at.String()
}

// kindOf is the kind of an object: the name of its type, unless the type is for several kinds.
func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(object).Elem().Name()
}
