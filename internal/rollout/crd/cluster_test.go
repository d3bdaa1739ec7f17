package crd

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { devcluster.Main(m) }

// world is the tests' cluster with one CRD for a test.
type world struct {
	client.Client
	t    testing.TB
	name string
}

func newWorld(t testing.TB) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, apiextensionsv1.AddToScheme(scheme))
	c := must.Value(client.New(devcluster.Config(), client.Options{Scheme: scheme}))(t)
	w := &world{Client: c, t: t, name: fmt.Sprintf("widgets.g%d.example.com", rand.Uint32())}
	t.Cleanup(func() { devcluster.DeleteDefinitions(t, w.name[len("widgets."):]) })
	return w
}

// crd is the CRD with some versions, in YAML, e.g. {name: v1, served: true, storage: true, schema: {...}}.
func (w *world) crd(versions ...string) *definition {
	w.t.Helper()
	text := "spec: {group: " + w.name[len("widgets."):] + ", scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}, versions: ["
	for _, v := range versions {
		text += v + ", "
	}
	c := &definition{}
	must.NoError(w.t, yaml.UnmarshalStrict([]byte(text+"]}"), c))
	c.Name = w.name
	return c
}

// version is one version of a CRD, e.g. versionYAML("v1 served stored", "{type: integer}") for the schema of spec.size.
func versionYAML(words, size string) string {
	var name, served, stored string
	_, _ = fmt.Sscan(words+" - -", &name, &served, &stored)
	has := func(word string) bool { return served == word || stored == word }
	return fmt.Sprintf("{name: %s, served: %t, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: %s}}}}}}",
		name, has("served"), has("stored"), size)
}

// install makes the CRD what it should be and waits until it is served.
func (w *world) install(wanted *definition) *definition {
	w.t.Helper()
	live := w.live()
	if live == nil {
		must.NoError(w.t, w.Create(w.t.Context(), wanted))
	} else {
		live.Spec = wanted.Spec
		must.NoError(w.t, w.Update(w.t.Context(), live))
	}
	w.await("the CRD to be served as it is now", func() bool {
		live = w.live()
		for _, v := range live.Spec.Versions {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(listIn(live, v.Name))
			if err := w.List(w.t.Context(), list, client.Limit(1)); (err == nil) != v.Served {
				return false
			}
		}
		return true
	})
	return live
}

func (w *world) await(what string, f func() bool) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) { return f(), nil })
	must.NoErrorf(w.t, err, "%s", what)
}

func (w *world) live() *definition {
	w.t.Helper()
	crd := &definition{}
	err := w.Get(w.t.Context(), client.ObjectKey{Name: w.name}, crd)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must.NoError(w.t, err)
	return crd
}

// fill makes objects in a version, with a size that may depend on the number.
func (w *world) fill(version string, from, to int, size func(int) any) {
	w.t.Helper()
	live := w.live()
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := from; i < to; i++ {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": size(i)}}}
			o.SetGroupVersionKind(kindIn(live, version))
			o.SetNamespace("default")
			o.SetName(fmt.Sprintf("w%06d", i))
			if err := w.Create(w.t.Context(), o); err != nil {
				w.t.Error(err)
			}
		})
	}
	group.Wait()
}

// versionsOf are the resource versions of all objects.
func (w *world) versionsOf(version string) map[string]string {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(listIn(w.live(), version))
	must.NoError(w.t, w.List(w.t.Context(), list))
	out := map[string]string{}
	for i := range list.Items {
		out[list.Items[i].GetName()] = list.Items[i].GetResourceVersion()
	}
	return out
}

func (w *world) wide(sizes ...any) func(int) any {
	return func(i int) any { return sizes[i%len(sizes)] }
}
