package clusterextension

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

// later is the manager's clock: deadlines and the intervals of polls are minutes.
var later = &harness.Clock{}

// shared is the manager of all tests, with the rights of the shipped manifests. The first test starts it.
var shared struct {
	sync.Once
	client.Client
	err error
}

// patience is how long a test waits for something that takes a second on an idle machine.
const patience = 2 * time.Minute

var worlds atomic.Int64

// world is a namespace, a catalog and extensions with names of the test's own, in a cluster with a manager.
type world struct {
	*testing.T
	client.Client
	// name is that of the namespace, the catalog and the first package.
	name     string
	registry string
}

// newWorld is for a test that runs at the same time as others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t)
}

// newWorldAlone is for a test that changes the time of the manager, or measures how long something takes: no other test runs then.
func newWorldAlone(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	shared.Do(func() {
		shared.Client, shared.err = harness.StartAsShipped(t, "../../../config", manager.Options{Clock: later})
	})
	if shared.err != nil || shared.Client == nil {
		t.Fatal("the manager was not started: ", shared.err)
	}
	c := shared.Client
	w := &world{T: t, Client: c, name: fmt.Sprintf("x%d-%d", os.Getpid()%1000, worlds.Add(1)), registry: devcluster.Registry()}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}
	if err := c.Create(t.Context(), system); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	w.namespace(w.name)
	return w
}

func (w *world) namespace(name string) {
	w.Helper()
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// create makes an object that goes with the test.
func (w *world) create(o client.Object) {
	w.Helper()
	must.NoError(w, w.Create(w.Context(), o))
	w.Cleanup(func() { _ = w.Delete(w.clean(), o.DeepCopyObject().(client.Object)) })
}

// until waits for something, and says at the end what was there in its place.
func (w *world) until(what string, done func() (bool, string)) {
	w.Helper()
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		ok, seen := done()
		if ok {
			return
		}
		last = seen
	}
	w.Fatalf("%s: after %s there is %s", what, patience, last)
}

// extend makes an extension for a package of the catalog of the test.
func (w *world) extend(name, pkg string, change ...func(*olmv1.ClusterExtension)) {
	w.Helper()
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterExtensionSpec{Namespace: w.name,
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: w.name}}}}}}
	for _, c := range change {
		c(ext)
	}
	w.create(ext)
}

func (w *world) extension(name string) *olmv1.ClusterExtension {
	w.Helper()
	ext := &olmv1.ClusterExtension{}
	must.NoError(w, w.Get(w.Context(), client.ObjectKey{Name: name}, ext))
	return ext
}

// change changes an extension, again when somebody else wrote it meanwhile.
func (w *world) change(name string, change func(*olmv1.ClusterExtension)) {
	w.Helper()
	ext := w.extension(name)
	before := ext.DeepCopy()
	change(ext)
	must.NoError(w, w.Patch(w.Context(), ext, client.MergeFrom(before)))
}

func version(v string) func(*olmv1.ClusterExtension) {
	return func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = v }
}

// says waits until a condition of the current generation has a status, a reason and a part of a message.
func (w *world) says(name, kind, status, reason, part string) {
	w.Helper()
	w.until(fmt.Sprintf("%s %s=%s/%s %q", name, kind, status, reason, part), func() (bool, string) {
		ext := w.extension(name)
		c := meta.FindStatusCondition(ext.Status.Conditions, kind)
		if c == nil {
			return false, "no such condition"
		}
		return string(c.Status) == status && c.Reason == reason && strings.Contains(c.Message, part) && c.ObservedGeneration == ext.Generation,
			fmt.Sprintf("%s/%s of generation %d: %s", c.Status, c.Reason, c.ObservedGeneration, c.Message)
	})
}

// installed waits until a bundle is installed, works, and nothing else is wanted.
func (w *world) installed(name, bundle string) {
	w.Helper()
	w.until(name+" has "+bundle, func() (bool, string) {
		ext := w.extension(name)
		is := ""
		if ext.Status.Install != nil {
			is = ext.Status.Install.Bundle.Name
		}
		p := meta.FindStatusCondition(ext.Status.Conditions, olmv1.TypeProgressing)
		done := is == bundle && p != nil && p.Reason == olmv1.ReasonSucceeded && p.ObservedGeneration == ext.Generation &&
			meta.IsStatusConditionTrue(ext.Status.Conditions, olmv1.TypeAvailable) && len(ext.Status.ActiveRevisions) == 1
		return done, fmt.Sprintf("%s: %+v", is, ext.Status.Conditions)
	})
}

// revisions are those of an extension, by their numbers.
func (w *world) revisions(name string) map[int64]olmv1.ClusterObjectSet {
	w.Helper()
	var list olmv1.ClusterObjectSetList
	must.NoError(w, w.List(w.Context(), &list, client.MatchingLabels{olmv1.OwnerNameKey: name}))
	out := map[int64]olmv1.ClusterObjectSet{}
	for _, r := range list.Items {
		out[r.Spec.Revision] = r
	}
	return out
}

// gone waits until an object is not there any more.
func (w *world) gone(o client.Object) {
	w.Helper()
	w.until(fmt.Sprintf("%T %s is gone", o, o.GetName()), func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		return apierrors.IsNotFound(err), fmt.Sprint("it: ", err)
	})
}

// there waits until an object is there.
func (w *world) there(o client.Object) {
	w.Helper()
	w.until(fmt.Sprintf("%T %s is there", o, o.GetName()), func() (bool, string) {
		err := w.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		return err == nil, fmt.Sprint(err)
	})
}
