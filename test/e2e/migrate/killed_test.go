package migrate

import (
	"context"
	"errors"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var errKilled = errors.New("killed")

// mortal is a client that lets a number of writes through and then none.
func (w *world) mortal(writes int) client.Client {
	w.Helper()
	write := func() error {
		if writes--; writes < 0 {
			return errKilled
		}
		return nil
	}
	return interceptor.NewClient(w.command, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return errors.Join(write(), ifAlive(&writes, func() error { return c.Create(ctx, o, options...) }))
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
			return errors.Join(write(), ifAlive(&writes, func() error { return c.Patch(ctx, o, p, options...) }))
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return errors.Join(write(), ifAlive(&writes, func() error { return c.Delete(ctx, o, options...) }))
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, options ...client.SubResourcePatchOption) error {
			return errors.Join(write(), ifAlive(&writes, func() error { return c.SubResource(sub).Patch(ctx, o, p, options...) }))
		},
	})
}

// ifAlive writes. A write that met another one is repeated by the command, and does not count.
func ifAlive(writes *int, do func() error) error {
	if *writes < 0 {
		return nil
	}
	err := do()
	if apierrors.IsConflict(err) {
		*writes++
	}
	return err
}

func (w *world) mover(c client.Client) *ops.Mover {
	return &ops.Mover{Client: c, Namespace: "olm", Render: func(_ context.Context, e *olmv1.ClusterExtension) (string, []*unstructured.Unstructured, []string, error) {
		r, err := registryv1.Render(w.bundle, desired.RenderOptions(e, registryv1.BuiltIn))
		if err != nil {
			return "", nil, nil, err
		}
		return w.bundle.Name, desired.Objects(r), nil, nil
	}}
}

// maxCalls is how many calls a migration may need that is killed at each of its writes.
const maxCalls = 100

// again calls until nobody is killed any more, each time after so many writes, and returns how many there were. Between two calls the managers have
// their time.
func (w *world) again(writes int, call func(c client.Client) error) (all int) {
	w.Helper()
	var err error
	for n := range maxCalls {
		err = call(w.mortal(writes))
		if err == nil {
			return n * writes
		}
		if !errors.Is(err, errKilled) {
			w.Fatalf("call %d: %v", n+1, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	w.Fatalf("not done after %d calls: %v", maxCalls, err)
	return 0
}

// TestKilledAtEveryWrite: F6 a migration, and the way back, that end at any of their writes are finished by the same command, and the workload
// never notices. Every day it is every third write; TestBackFromHalfway has others.
func TestKilledAtEveryWrite(t *testing.T) {
	writes := sweep.Of(3, 3, 1)
	w := newWorld(t, nil, func(s *v1alpha1.Subscription) {
		s.Spec.Config = &v1alpha1.SubscriptionConfig{Env: []corev1.EnvVar{{Name: "COLOUR", Value: "green"}}}
	})
	before := w.workload()
	quiet := func(string) {}
	there := w.again(writes, func(c client.Client) error {
		m := w.mover(c)
		v, err := m.Plan(t.Context(), client.ObjectKey{Namespace: w.name, Name: "greeter"}, migrate.Preferences{Name: w.name, Catalog: w.name})
		if err != nil {
			return err
		}
		if len(v.Refused) > 0 {
			return errors.New(v.Refused[0])
		}
		w.untouched(before)
		return m.Run(t.Context(), v, quiet)
	})
	w.extended("greeter-operator.v1.1.0")
	w.untouched(before)
	must.Empty(t, "of the v0 API is left", w.leftOfV0())
	back := w.again(writes, func(c client.Client) error {
		m := w.mover(c)
		v, err := m.Find(t.Context(), w.name)
		if err != nil {
			return err
		}
		w.untouched(before)
		return m.Undo(t.Context(), v, quiet)
	})
	w.gone()
	w.installed()
	w.untouched(before)
	if there < 12 || back < 12 {
		t.Errorf("killed after %d writes on the way there, and %d on the way back: fewer than there are", there, back)
	}
	t.Logf("killed after %d writes on the way there, and %d on the way back", there, back)
}
