package migrate

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// begin migrates with a command that is killed after a number of writes.
func (w *world) begin(writes int) {
	w.Helper()
	m := w.mover(w.mortal(writes))
	v := must.Value(m.Plan(w.Context(), client.ObjectKey{Namespace: w.name, Name: "greeter"}, migrate.Preferences{Name: w.name, Catalog: w.name}))(w)
	if len(v.Refused) > 0 {
		w.Fatalf("after %d writes: refused: %q", writes, v.Refused)
	}
	ctx, stop := context.WithTimeout(w.Context(), 2*time.Minute)
	defer stop()
	if err := m.Run(ctx, v, func(string) {}); !errors.Is(err, errKilled) {
		w.Fatalf("after %d writes: %v, and it was to be killed", writes, err)
	}
}

// back goes back, and returns what was found.
func (w *world) back() *ops.Move {
	w.Helper()
	m := w.mover(w.command)
	v := must.Value(m.Find(w.Context(), w.name))(w)
	ctx, stop := context.WithTimeout(w.Context(), 2*time.Minute)
	defer stop()
	must.NoError(w, m.Undo(ctx, v, func(string) {}))
	return v
}

// TestBackFromHalfway: F6 what was begun is taken back from wherever it was cut short, and what was not begun changes nothing. A namespace that is
// deleted in the midst of a migration does not wait for the command that was cut short.
func TestBackFromHalfway(t *testing.T) {
	w := newWorld(t, nil, nil)
	before := w.workload()
	roles := w.rolesOfCSVs()
	for _, c := range []struct {
		writes  int
		unbegun bool
	}{{1, true}, {2, true}, {3, false}, {5, false}, {12, false}} {
		w.begin(c.writes)
		v := w.back()
		must.Equal(t, fmt.Sprintf("after %d writes: unbegun", c.writes), v.Unbegun, c.unbegun)
		w.gone()
		w.installed()
		w.untouched(before)
		must.Eventually(w, "the roles are what they were", func() error {
			if is := w.rolesOfCSVs(); fmt.Sprint(is) != fmt.Sprint(roles) {
				return fmt.Errorf("they are %q, and were %q", is, roles)
			}
			return nil
		})
		sub := &v1alpha1.Subscription{}
		must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: w.name, Name: "greeter"}, sub))
		if sub.Spec.InstallPlanApproval != v1alpha1.ApprovalAutomatic || len(sub.Annotations) > 0 {
			t.Errorf("after %d writes: the Subscription is %+v, with annotations %v", c.writes, sub.Spec, sub.Annotations)
		}
		var secrets corev1.SecretList
		must.NoError(w, w.List(t.Context(), &secrets, client.InNamespace("olm"), client.HasLabels{ops.Label}))
		for _, s := range secrets.Items {
			if s.Annotations[ops.ExtensionKey] == w.name {
				t.Errorf("after %d writes: Secret %s is left", c.writes, s.Name)
			}
		}
	}

	held := &v1alpha1.ClusterServiceVersion{}
	for writes := 4; held.DeletionTimestamp == nil; writes++ {
		w.begin(writes)
		must.NoError(w, w.Get(t.Context(), client.ObjectKey{Namespace: w.name, Name: "greeter-operator.v1.1.0"}, held))
	}
	must.NoError(w, w.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.name}}))
	must.Eventually(w, "the ClusterServiceVersion is gone", func() error {
		err := w.Get(t.Context(), client.ObjectKeyFromObject(held), held)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it has finalizers %q: %w", held.Finalizers, err)
	})
}
