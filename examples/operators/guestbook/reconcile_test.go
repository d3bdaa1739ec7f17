package main

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/examples/operators/api"
	"fairlead.dev/fairlead/examples/operators/startup"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var key = client.ObjectKey{Namespace: "ns", Name: "lobby"}

func newBook() *api.Guestbook {
	return &api.Guestbook{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "book-1", Generation: 2},
		Spec:       api.GuestbookSpec{Guest: "Grace", Title: "Lobby"},
	}
}

// greetingOf is a Greeting that the book with this UID asked for, and that the greeter has seen in this generation.
func greetingOf(owner string, observed int64) *api.Greeting {
	mine := true
	return &api.Greeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "greeting-1", Generation: 5,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: api.GroupVersion.String(), Kind: "Guestbook", Name: key.Name, UID: "book-1", Controller: &mine,
			}}},
		Spec:   api.GreetingSpec{Name: owner, Style: api.Formal},
		Status: api.GreetingStatus{Text: "Good day, " + owner + ".", ObservedGeneration: observed},
	}
}

func newClient(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := startup.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&api.Guestbook{}, &api.Greeting{}).Build()
}

func TestReconcile(t *testing.T) {
	foreign := greetingOf("Alan", 5)
	foreign.OwnerReferences = nil
	tests := map[string]struct {
		objects []client.Object
		guest   string // in the Greeting afterwards
		entry   string
		reason  string
		wantErr bool
	}{
		"a new Guestbook asks for a Greeting": {
			objects: []client.Object{newBook()},
			guest:   "Grace", reason: "WaitingForGreeting",
		},
		"the text is shown": {
			objects: []client.Object{newBook(), greetingOf("Grace", 5)},
			guest:   "Grace", entry: "Lobby: Good day, Grace.", reason: "Greeted",
		},
		"an outdated text is not": {
			objects: []client.Object{newBook(), greetingOf("Alan", 4)},
			guest:   "Grace", reason: "WaitingForGreeting",
		},
		"a Greeting of somebody else is left alone": {
			objects: []client.Object{newBook(), foreign},
			guest:   "Alan", reason: "WriteFailed", wantErr: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, tc.objects...)
			_, err := (&guestbook{c}).Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
			if (err != nil) != tc.wantErr {
				t.Fatalf("got error %v, want one: %v", err, tc.wantErr)
			}
			var greeting api.Greeting
			var book api.Guestbook
			for _, object := range []client.Object{&greeting, &book} {
				if err := c.Get(context.Background(), key, object); err != nil {
					t.Fatal(err)
				}
			}
			ready := meta.FindStatusCondition(book.Status.Conditions, api.ConditionReady)
			got := []string{greeting.Spec.Name, book.Status.Entry, ready.Reason}
			if diff := cmp.Diff([]string{tc.guest, tc.entry, tc.reason}, got); diff != "" {
				t.Error(diff)
			}
			if (ready.Status == metav1.ConditionTrue) != (tc.reason == "Greeted") || book.Status.ObservedGeneration != 2 {
				t.Errorf("status %+v", book.Status)
			}
		})
	}
}

func TestReconcileOfNothing(t *testing.T) {
	if _, err := (&guestbook{newClient(t)}).Reconcile(context.Background(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Error(err)
	}
}
