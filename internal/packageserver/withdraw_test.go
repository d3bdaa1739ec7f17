package packageserver

import (
	"context"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestGoingTakesAWhile where another process takes over: API servers go on asking this one until they have heard of it. Who is the last has
// nobody to wait for.
func TestGoingTakesAWhile(t *testing.T) {
	for name, others := range map[string]bool{"another takes over": true, "the last": false} {
		t.Run(name, func(t *testing.T) {
			w := newRegistrar(t)
			w.begins(w.Registration)
			if others {
				w.serves("10.0.0.8:5443")
			}
			gone := make(chan error, 1)
			go func() { gone <- w.withdraw(t.Context()) }()
			if others {
				for end := time.Now().Add(10 * time.Second); !w.clock.HasWaiters(); time.Sleep(time.Millisecond) {
					if len(gone) > 0 || time.Now().After(end) {
						t.Fatal("it does not wait")
					}
				}
				w.clock.Step(linger - time.Millisecond)
				select {
				case err := <-gone:
					t.Fatalf("it went on serving for less than %s: %v", linger, err)
				case <-time.After(50 * time.Millisecond):
				}
				w.clock.Step(time.Millisecond)
			}
			select {
			case err := <-gone:
				must.NoErrorf(t, err, "the APIService is there")
				must.Equal(t, "the APIService is there", w.registered(), others)
			case <-time.After(10 * time.Second):
				t.Error("it does not end")
			}
		})
	}
}

// TestAPIServiceThatWasTakenOver by somebody else just before it would be deleted stays.
func TestAPIServiceThatWasTakenOver(t *testing.T) {
	w := newRegistrar(t)
	w.begins(w.Registration)
	tries := 0
	w.client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if tries++; tries == 1 {
				live := o.DeepCopyObject().(*unstructured.Unstructured)
				if err := c.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
					return err
				}
				if err := unstructured.SetNestedField(live.Object, "somebody-else", "spec", "service", "name"); err != nil {
					return err
				}
				if err := c.Update(ctx, live); err != nil {
					return err
				}
			}
			return c.Delete(ctx, o, options...)
		},
	})
	must.NoError(t, w.deleteAPIService(t.Context()))
	if tries != 1 || !w.registered() {
		t.Errorf("the APIService that leads to somebody else is there: %t, after %d requests to delete it", w.registered(), tries)
	}
}

// TestNobodyIsBelieved without authorities: nobody is asked, and nobody counts as one that serves.
func TestNobodyIsBelieved(t *testing.T) {
	w := newRegistrar(t)
	asked := 0
	w.probe = func(context.Context, string, []byte) error { asked++; return nil }
	others := []peer{{name: "other", address: "10.0.0.8:5443"}}
	for name, trusted := range map[string][]byte{"nothing": nil, "an empty bundle": {}} {
		found := map[string]bool{}
		w.ask(t.Context(), others, trusted, found)
		must.Equal(t, name, asked, 0)
		must.Empty(t, name, found)
	}
	found := map[string]bool{}
	w.ask(t.Context(), others, []byte("authorities"), found)
	if asked != 1 || !found["other"] {
		t.Errorf("%d were asked, %v serve", asked, found)
	}
}
