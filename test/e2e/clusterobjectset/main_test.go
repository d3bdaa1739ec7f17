package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

var errNotYet = errors.New("not yet")

func TestMain(m *testing.M) { harness.Main(m) }

// later is the manager's clock: no deadline is shorter than ten minutes.
var later = &harness.Clock{}

// shared starts the manager, whose requests are recorded, and returns a client whose requests are not.
var shared = sync.OnceValues(func() (client.Client, error) {
	started, err := harness.Start(manager.Options{Clock: later, Config: asked.Record(devcluster.Config())})
	if err != nil {
		return nil, err
	}
	return client.New(devcluster.Config(), client.Options{Scheme: started.Scheme()})
})

// world is the cluster for one test.
type world struct {
	harness.World
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return &world{harness.NewWorld(t, shared)}
}

// apply creates the objects of YAML documents, in which NS stands for the namespace of the test. What is left of them goes with the test.
func (w *world) apply(text string) {
	w.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		must.NoError(w, yaml.Unmarshal([]byte(strings.ReplaceAll(document, "NS", w.Namespace)), &u.Object))
		must.NoErrorf(w, w.Create(w.Context(), u), "create %s %s", u.GetKind(), u.GetName())
		w.Cleanup(func() { w.removeNow(u) })
	}
}

// removeNow is for the end of a test, whose context is over.
func (w *world) removeNow(o client.Object) {
	ctx, cancel := context.WithTimeout(context.Background(), must.Timeout)
	defer cancel()
	if err := w.Delete(ctx, o); client.IgnoreNotFound(err) != nil && !meta.IsNoMatchError(err) {
		w.Errorf("delete %s: %v", o.GetName(), err)
	}
}

// get reads an object; nil when there is none.
func (w *world) get(apiVersion, kind, name string) *unstructured.Unstructured {
	w.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	err := w.Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, u)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatalf("read %s %s: %v", kind, name, err)
	}
	return u
}

func (w *world) set(name string) *olmv1.ClusterObjectSet {
	w.Helper()
	set := &olmv1.ClusterObjectSet{}
	must.NoErrorf(w, w.Get(w.Context(), client.ObjectKey{Name: strings.ReplaceAll(name, "NS", w.Namespace)}, set), "read ClusterObjectSet %s", name)
	return set
}

// reports waits for a condition of a set: Type=Status/Reason, and a part of its message.
func (w *world) reports(set, condition, message string) {
	w.Helper()
	message = strings.ReplaceAll(message, "NS", w.Namespace)
	must.Eventually(w, set+" to report "+condition, func() error {
		var all []string
		for _, c := range w.set(set).Status.Conditions {
			all = append(all, fmt.Sprintf("%s=%s/%s %q", c.Type, c.Status, c.Reason, c.Message))
			if fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason) == condition && strings.Contains(c.Message, message) {
				return nil
			}
		}
		return fmt.Errorf("it reports %s", strings.Join(all, ", "))
	})
}

// change edits a set until nobody else does at the same time.
func (w *world) change(name string, do func(*olmv1.ClusterObjectSet)) {
	w.Helper()
	must.Eventually(w, "an edit of "+name, func() error {
		set := w.set(name)
		do(set)
		return w.Update(w.Context(), set)
	})
}

// edit changes an object until nobody else does at the same time.
func (w *world) edit(apiVersion, kind, name string, do func(o map[string]any)) {
	w.Helper()
	must.Eventually(w, "an edit of "+kind+" "+name, func() error {
		u := w.get(apiVersion, kind, name)
		if u == nil {
			return errors.New("it is not there")
		}
		do(u.Object)
		return w.Update(w.Context(), u, client.FieldOwner("somebody"))
	})
}

func (w *world) make(o client.Object) {
	w.Helper()
	must.NoErrorf(w, w.Create(w.Context(), o), "create %s", o.GetName())
}

// gone is an error as long as a set is there, other than that it is not.
func (w *world) gone(name string) error {
	set := &olmv1.ClusterObjectSet{}
	if err := w.Get(w.Context(), client.ObjectKey{Name: strings.ReplaceAll(name, "NS", w.Namespace)}, set); err != nil {
		return err
	}
	return fmt.Errorf("it is there: %v", set.Status.Conditions)
}

// there waits until an object exists, or is gone.
func (w *world) there(yes bool, apiVersion, kind, name string) {
	w.Helper()
	must.Eventually(w, fmt.Sprintf("%s %s to be there: %t", kind, name, yes), func() error {
		if found := w.get(apiVersion, kind, name) != nil; found != yes {
			return fmt.Errorf("it is there: %t", found)
		}
		return nil
	})
}
