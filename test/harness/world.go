package harness

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// World is a test, the cluster that it runs in, and a namespace. The worlds of packages embed it.
type World struct {
	*testing.T
	client.Client
	Namespace string
}

// NewWorld is a world with a namespace of its own, in the cluster whose manager start starts. It skips the test where that may not start one.
func NewWorld(t *testing.T, start func() (client.Client, error)) World {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	c, err := start()
	must.NoErrorf(t, err, "start the manager")
	return World{T: t, Client: c, Namespace: devcluster.Namespace(t)}
}

// In is the same world with another namespace.
func (w *World) In(namespace string) *World {
	return &World{T: w.T, Client: w.Client, Namespace: namespace}
}

// Named is the metadata of an object in the namespace.
func (w *World) Named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.Namespace, Name: name}
}

// Make creates objects.
func (w *World) Make(objects ...client.Object) {
	w.Helper()
	Create(w, w, objects...)
}

// Remove deletes objects, which may have gone already.
func (w *World) Remove(objects ...client.Object) {
	w.Helper()
	Remove(w, w, objects...)
}

// RemoveLater deletes an object when the test is over.
func (w *World) RemoveLater(o client.Object) {
	w.Cleanup(func() {
		if err := w.Delete(context.WithoutCancel(w.Context()), o); client.IgnoreNotFound(err) != nil {
			w.Errorf("delete %T %s: %v", o, client.ObjectKeyFromObject(o), err)
		}
	})
}

// Read reads an object of the namespace, or one without a namespace, and reports whether it exists.
func (w *World) Read(name string, into client.Object) bool {
	w.Helper()
	return Read(w, w, w.Namespace, name, into)
}

// Eventually repeats a check until it returns no error, and returns how long that took.
func (w *World) Eventually(what string, check func() error) time.Duration {
	w.Helper()
	return must.Eventually(w, what, check)
}

// Is waits until a ClusterServiceVersion is in a phase for a reason, any reason where it is empty, and returns it.
func (w *World) Is(name string, phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	w.Eventually(fmt.Sprintf("%s/%s to be %s/%s", w.Namespace, name, phase, reason), func() error { return w.Check(csv, name, phase, reason) })
	return csv
}

// Check is one attempt of Is.
func (w *World) Check(csv *v1alpha1.ClusterServiceVersion, name string, phase v1alpha1.ClusterServiceVersionPhase, reason v1alpha1.ConditionReason) error {
	*csv = v1alpha1.ClusterServiceVersion{}
	if err := w.Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, csv); err != nil {
		return err
	}
	if s := csv.Status; s.Phase != phase || reason != "" && s.Reason != reason {
		return fmt.Errorf("it is %s/%s: %s; history %v", s.Phase, s.Reason, s.Message, History(csv))
	}
	return nil
}

// Succeeds waits until a ClusterServiceVersion is installed, and returns it.
func (w *World) Succeeds(name string) *v1alpha1.ClusterServiceVersion {
	w.Helper()
	return w.Is(name, v1alpha1.CSVPhaseSucceeded, v1alpha1.CSVReasonInstallSuccessful)
}

// Goes waits until an object is deleted.
func (w *World) Goes(name string, o client.Object) {
	w.Helper()
	w.Eventually(fmt.Sprintf("%T %s/%s to go", o, w.Namespace, name), func() error {
		if w.Read(name, o) {
			return fmt.Errorf("it exists, finalizers %v", o.GetFinalizers())
		}
		return nil
	})
}
