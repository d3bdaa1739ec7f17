package main

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/examples/operators/api"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// guestbook keeps the Greeting and the status of each Guestbook.
type guestbook struct{ client client.Client }

// Reconcile asks for a Greeting of the same name and shows its text in the status once the greeter has written it.
func (g *guestbook) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var book api.Guestbook
	if err := g.client.Get(ctx, request.NamespacedName, &book); err != nil || !book.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := book.DeepCopy()
	greeting, err := g.ask(ctx, &book)
	report(&book, greeting, err)
	if !equality.Semantic.DeepEqual(before.Status, book.Status) {
		if err := g.client.Status().Patch(ctx, &book, client.MergeFrom(before)); err != nil {
			return ctrl.Result{}, fmt.Errorf("write the status of Guestbook %s: %w", request, err)
		}
	}
	return ctrl.Result{}, err
}

// ask brings the Greeting about. Its text comes later, and with it another round.
func (g *guestbook) ask(ctx context.Context, book *api.Guestbook) (*api.Greeting, error) {
	greeting := &api.Greeting{ObjectMeta: metav1.ObjectMeta{Namespace: book.Namespace, Name: book.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, g.client, greeting, func() error {
		if greeting.UID != "" && !metav1.IsControlledBy(greeting, book) {
			return fmt.Errorf("it exists and does not belong to this Guestbook: give the Guestbook another name")
		}
		greeting.Spec.Name = book.Spec.Guest
		if book.Spec.Style != "" { // else the default of the greeter stays
			greeting.Spec.Style = book.Spec.Style
		}
		return controllerutil.SetControllerReference(book, greeting, g.client.Scheme())
	})
	if err != nil {
		return nil, fmt.Errorf("write Greeting %s: %w", client.ObjectKeyFromObject(greeting), err)
	}
	return greeting, nil
}

// report sets the status from what the greeter says.
func report(book *api.Guestbook, greeting *api.Greeting, err error) {
	book.Status.ObservedGeneration = book.Generation
	book.Status.Entry = ""
	ready := metav1.Condition{
		Type: api.ConditionReady, Status: metav1.ConditionFalse, Reason: "WaitingForGreeting",
		Message: "the Greeting of the same name has no text yet; is the greeter running?", ObservedGeneration: book.Generation,
	}
	switch {
	case err != nil:
		ready.Reason, ready.Message = "WriteFailed", err.Error()
	case greeting.Status.Text != "" && greeting.Status.ObservedGeneration == greeting.Generation:
		book.Status.Entry = entry(book.Spec.Title, greeting.Status.Text)
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Greeted", "the guest is greeted"
	}
	meta.SetStatusCondition(&book.Status.Conditions, ready)
}

// entry is what the guestbook shows.
func entry(title, text string) string {
	if title == "" {
		return text
	}
	return title + ": " + text
}
