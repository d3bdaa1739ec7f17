package installplan

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestWriteThatChangesNothingIsNotWaitedFor: an API server to which a status says nothing new sends no event, which would bring a plan
// back that is taken for behind.
func TestWriteThatChangesNothingIsNotWaitedFor(t *testing.T) {
	w := newWorld(t, handMade("Manual", "lone.v1.0.0"), catalogSource("ns", "cat", 0))
	w.controller.client = interceptor.NewClient(w.WithWatch, interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return nil
		},
	})
	if _, err := w.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if p := w.plan(t, "plan"); len(p.Status.Conditions) > 0 {
		t.Fatalf("it was written: %+v", p.Status)
	}
	w.controller.client = w.WithWatch
	if p := w.settle(t, time.Minute); p.Status.Message == "" || len(p.Status.Conditions) == 0 {
		t.Errorf("it is never looked at again: %+v", p.Status)
	}
}
