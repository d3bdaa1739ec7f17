package crd

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// laggard is one of several API servers that takes a while to take note of a change of a CRD, and stores objects as before until then.
type laggard struct {
	*shelf
	now, knows time.Time
	stored     map[string]string
}

func (l *laggard) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	l.mu.Lock()
	if _, crd := o.(*definition); !crd {
		l.stored[o.GetName()] = "v1"
		if l.now.Before(l.knows) {
			l.stored[o.GetName()] = "v1alpha1"
		}
	}
	l.mu.Unlock()
	return l.shelf.Patch(ctx, o, p, opts...)
}

// TestMigrationWaitsForEveryAPIServer has one that lags behind for as long as the API server itself reckons with.
func TestMigrationWaitsForEveryAPIServer(t *testing.T) {
	changed := time.Now().Truncate(time.Second)
	at := metav1.NewTime(changed)
	tests := map[string]func(*definition){
		"its versions were changed": func(c *definition) {
			c.ManagedFields = []metav1.ManagedFieldsEntry{
				{Manager: "old", Time: new(metav1.NewTime(changed.Add(-time.Hour))), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:versions":{}}}`)},
				{Manager: "new", Time: &at, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:versions":{}}}`)},
			}
		},
		"it was made, and nobody knows by whom": func(c *definition) { c.CreationTimestamp = at },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			l := &laggard{shelf: &shelf{objects: 1200}, knows: changed.Add(settleTime), stored: map[string]string{}}
			crd := off()
			change(crd)
			done := false
			for l.now = changed; !done && l.now.Before(changed.Add(time.Minute)); l.now = l.now.Add(700 * time.Millisecond) {
				m := Migration{Client: l, Reader: l, Live: crd, Leaving: []string{"v1alpha1"}, Now: l.now}
				p := must.Value(m.Advance(t.Context(), 9))(t)
				done = p.Done
			}
			if !done || len(l.stored) != 1200 {
				t.Fatalf("done %t, %d objects were written", done, len(l.stored))
			}
			for name, version := range l.stored {
				if version != "v1" {
					t.Fatalf("%s is stored as %s: it could not be read any more", name, version)
				}
			}
		})
	}
}
