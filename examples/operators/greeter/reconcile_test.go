package main

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/examples/operators/api"
	"fairlead.dev/fairlead/examples/operators/startup"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var key = client.ObjectKey{Namespace: "ns", Name: "ada"}

func newGreeting(style api.Style) *api.Greeting {
	return &api.Greeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "greeting-1", Generation: 3},
		Spec:       api.GreetingSpec{Name: "Ada", Style: style},
	}
}

func newClient(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme, err := startup.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&api.Greeting{}).Build()
}

func TestReconcile(t *testing.T) {
	mine := true
	tests := map[string]struct {
		objects    []client.Object
		text       string // in the ConfigMap afterwards
		statusText string
		reason     string
		wantErr    bool
	}{
		"a new Greeting": {
			objects: []client.Object{newGreeting("")},
			text:    "Hello Ada", statusText: "Hello Ada", reason: "Written",
		},
		"the text is healed": {
			objects: []client.Object{newGreeting(api.Cheerful), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "config-1", OwnerReferences: []metav1.OwnerReference{{
					APIVersion: api.GroupVersion.String(), Kind: "Greeting", Name: key.Name, UID: "greeting-1", Controller: &mine,
				}}},
				Data: map[string]string{textKey: "something else"},
			}},
			text: "Hey Ada! Great to see you!", statusText: "Hey Ada! Great to see you!", reason: "Written",
		},
		"a ConfigMap of somebody else is left alone": {
			objects: []client.Object{newGreeting(api.Formal), &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "config-1"},
				Data:       map[string]string{textKey: "precious"},
			}},
			text: "precious", reason: "WriteFailed", wantErr: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, tc.objects...)
			_, err := (&greeter{c}).Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
			if (err != nil) != tc.wantErr {
				t.Fatalf("got error %v, want one: %v", err, tc.wantErr)
			}
			var config corev1.ConfigMap
			var greeting api.Greeting
			for _, object := range []client.Object{&config, &greeting} {
				if err := c.Get(context.Background(), key, object); err != nil {
					t.Fatal(err)
				}
			}
			ready := meta.FindStatusCondition(greeting.Status.Conditions, api.ConditionReady)
			got := []string{config.Data[textKey], greeting.Status.Text, ready.Reason}
			if diff := cmp.Diff([]string{tc.text, tc.statusText, tc.reason}, got); diff != "" {
				t.Error(diff)
			}
			if greeting.Status.ObservedGeneration != 3 || (ready.Status == metav1.ConditionTrue) == tc.wantErr {
				t.Errorf("status %+v", greeting.Status)
			}
		})
	}
}

func TestReconcileIsQuietWhenDone(t *testing.T) {
	c := newClient(t, newGreeting(""))
	var versions []string
	for range 2 {
		if _, err := (&greeter{c}).Reconcile(context.Background(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		var config corev1.ConfigMap
		var greeting api.Greeting
		if err := c.Get(context.Background(), key, &config); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(context.Background(), key, &greeting); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, config.ResourceVersion+" "+greeting.ResourceVersion)
	}
	if versions[0] != versions[1] {
		t.Errorf("the second round wrote: %v", versions)
	}
}

func TestReconcileOfNothing(t *testing.T) {
	if _, err := (&greeter{newClient(t)}).Reconcile(context.Background(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Error(err)
	}
}
