package demo

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/test/must"
)

func TestAnInterruptIsNoTimeout(t *testing.T) {
	d := &Demo{options: Options{Timeout: time.Minute}, scene: newScene(), manager: make(chan error), events: make(chan watch.Event)}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := d.follow(ctx, func(*scene) bool { return false }); !errors.Is(err, ErrInterrupted) {
		t.Errorf("an interrupted demo says %v", err)
	}
}

func TestADemoIsToldOnce(t *testing.T) {
	earlier := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "op"}}
	c := fake.NewClientBuilder().WithScheme(must.Value(kubeconfig.Scheme())(t)).WithObjects(earlier).Build()
	d := &Demo{options: Options{Name: "kept"}, client: c}
	must.Fail(t, "another story", d.prepareNamespace(t.Context()), "namespace demo of cluster kept has the Subscriptions of an earlier demo", "--name")
}
