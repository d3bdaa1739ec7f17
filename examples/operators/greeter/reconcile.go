package main

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/examples/operators/api"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// textKey is where the ConfigMap holds the greeting.
const textKey = "greeting"

// greeter keeps the ConfigMap and the status of each Greeting.
type greeter struct{ client client.Client }

// Reconcile writes the greeting into the ConfigMap of the same name, and what came of it into the status. It never
// touches a ConfigMap that belongs to another owner.
func (g *greeter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var greeting api.Greeting
	if err := g.client.Get(ctx, request.NamespacedName, &greeting); err != nil || !greeting.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := greeting.DeepCopy()
	err := g.write(ctx, &greeting)
	report(&greeting, err)
	if !equality.Semantic.DeepEqual(before.Status, greeting.Status) {
		if err := g.client.Status().Patch(ctx, &greeting, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, fmt.Errorf("write the status of Greeting %s: %w", request, err)
		}
	}
	return ctrl.Result{}, err
}

// write brings the ConfigMap about.
func (g *greeter) write(ctx context.Context, greeting *api.Greeting) error {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: greeting.Namespace, Name: greeting.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, g.client, config, func() error {
		if config.UID != "" && !metav1.IsControlledBy(config, greeting) {
			return fmt.Errorf("it exists and does not belong to this Greeting: give the Greeting another name")
		}
		config.Data = map[string]string{textKey: text(greeting.Spec)}
		return controllerutil.SetControllerReference(greeting, config, g.client.Scheme())
	})
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", client.ObjectKeyFromObject(config), err)
	}
	return nil
}

// report sets the status from what came of the ConfigMap.
func report(greeting *api.Greeting, err error) {
	greeting.Status.ObservedGeneration = greeting.Generation
	greeting.Status.Text = text(greeting.Spec)
	ready := metav1.Condition{
		Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "Written",
		Message: "the greeting is in the ConfigMap of the same name", ObservedGeneration: greeting.Generation,
	}
	if err != nil {
		greeting.Status.Text = ""
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "WriteFailed", err.Error()
	}
	meta.SetStatusCondition(&greeting.Status.Conditions, ready)
}

// text is the greeting.
func text(spec api.GreetingSpec) string {
	switch spec.Style {
	case api.Cheerful:
		return "Hey " + spec.Name + "! Great to see you!"
	case api.Formal:
		return "Good day, " + spec.Name + "."
	default:
		return "Hello " + spec.Name
	}
}
