package catalogsource

import (
	"context"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestAPollIsNotedOnce looks at a catalog again while the cache still has it as it was before the poll was noted.
func TestAPollIsNotedOnce(t *testing.T) {
	w := newWorld(t, source(grpc(15*time.Minute)))
	w.reconcile()
	w.reconcile()
	w.clock.Step(20 * time.Minute)
	stale := w.source()
	behind := true
	w.c.client = interceptor.NewClient(w.c.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if s, is := o.(*v1alpha1.CatalogSource); is && behind {
				stale.DeepCopyInto(s)
				return nil
			}
			return c.Get(ctx, key, o, opts...)
		},
	})
	w.writes = 0
	for range 3 {
		w.reconcile()
	}
	must.Equal(t, "one poll was noted", w.writes, 1)
	behind = false
	for range 2 {
		w.reconcile()
	}
	must.Equal(t, "it was noted", w.writes, 1)
	// What another client writes over it is mended.
	s := w.source()
	s.Status.LatestImageRegistryPoll = nil
	must.NoError(t, w.c.client.Status().Update(t.Context(), s))
	w.reconcile()
	if w.writes != 2 || w.source().Status.LatestImageRegistryPoll == nil {
		t.Errorf("after somebody else took it away it was written %d times: %v", w.writes, w.source().Status.LatestImageRegistryPoll)
	}
}
