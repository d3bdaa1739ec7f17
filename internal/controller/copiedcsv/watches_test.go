package copiedcsv

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

func TestWhatWakesUp(t *testing.T) {
	single := operator("single.v1")
	single.Namespace, single.Annotations["olm.operatorNamespace"] = "b", "b"
	own := group("a", "missing")
	own.Namespace = "b"
	stray := operator("stray.v1")
	stray.Namespace = "a"
	k := newCluster(t, append(namespaces(ns, "a", "b"), group(""), own, operator("op.v1"), single, stray, olmConfig())...)
	k.settle()
	for name, test := range map[string]struct {
		wakes func(context.Context, client.Object) []reconcile.Request
		o     client.Object
		want  string
	}{
		"a copy":                    {itself, k.server.objects[k.server.keys()[0]], "a/op.v1"},
		"a source":                  {k.c.copiesOf, operator("op.v1"), "a/op.v1 b/op.v1 operators/op.v1"},
		"a source with two targets": {k.c.copiesOf, single, "a/single.v1 b/single.v1 missing/single.v1"},
		"what looks like a copy":    {k.c.copiesOf, stray, "a/stray.v1"},
		"a group":                   {k.c.copiesOfEach, own, "a/single.v1 missing/single.v1"},
		"a namespace":               {k.c.copiesFor, namespaces("new")[0], "new/op.v1"},
		"a namespace that is named": {k.c.copiesFor, namespaces("missing")[0], "missing/op.v1 missing/single.v1"},
		"the OLMConfig":             {k.c.copiesOfEach, olmConfig(), "a/op.v1 a/single.v1 b/op.v1 missing/single.v1"},
	} {
		var got []string
		for _, r := range test.wakes(t.Context(), test.o) {
			got = append(got, r.String())
		}
		slices.Sort(got)
		must.Equal(t, "requests of "+name, strings.Join(slices.Compact(got), " "), test.want)
	}
}

// TestChangesThatDoNotMatter wake nothing up.
func TestChangesThatDoNotMatter(t *testing.T) {
	annotated, other := group("a"), group("a", "b")
	annotated.Annotations = map[string]string{"x": "y"}
	if targetsMatter.Update(event.UpdateEvent{ObjectOld: group("a"), ObjectNew: annotated}) {
		t.Error("an annotation of a group wakes copies up")
	}
	if !targetsMatter.Update(event.UpdateEvent{ObjectOld: group("a"), ObjectNew: other}) {
		t.Error("a new target wakes nothing up")
	}
	if appears.Update(event.UpdateEvent{}) || appears.Delete(event.DeleteEvent{}) || !appears.Create(event.CreateEvent{}) {
		t.Error("of a namespace only its appearance matters")
	}
}

// TestTrim leaves a fraction of a copy, and leaves it as it is the second time.
func TestTrim(t *testing.T) {
	full := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "op.v1", Namespace: "a", ResourceVersion: "7", Generation: 3,
		Labels:        map[string]string{"olm.copiedFrom": ns, "more": strings.Repeat("x", 60)},
		Annotations:   map[string]string{"alm-examples": strings.Repeat("x", 100_000), markAnnotation: "1.2.3"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: fieldManager}, {Manager: fieldManager, Subresource: "status"}}}}
	once := must.Value(trim(full))(t)
	small := once.(*metav1.PartialObjectMetadata)
	if n := len(mustJSON(small)); n > 500 {
		t.Errorf("%d bytes are left", n)
	}
	if _, foreign := small.Annotations[foreignKey]; foreign || small.Annotations[markAnnotation] != "1.2" || origin(small) != ns || small.ResourceVersion != "7" {
		t.Errorf("what is left is %+v", small)
	}
	if twice, _ := trim(once); twice != once {
		t.Error("what is trimmed is trimmed again")
	}
	if got, _ := trim("something else"); got != "something else" {
		t.Errorf("something else becomes %v", got)
	}
}

// TestSetup adds the controllers to a manager that never starts.
func TestSetup(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for gvk := range testScheme.AllKnownTypes() {
		mapper.Add(gvk, meta.RESTScopeNamespace)
	}
	skip := true
	options := manager.Options{
		Scheme:         testScheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		Metrics:        metricsserver.Options{BindAddress: "0"},
	}
	options.Controller.SkipNameValidation = &skip
	for _, o := range []Options{{}, {Namespaces: []string{"a", "b"}}} {
		mgr := must.Value(manager.New(&rest.Config{Host: "127.0.0.1:1"}, options))(t)
		if err := Setup(mgr, o); err != nil {
			t.Error(err)
		}
	}
}

// TestCacheOptions keep copies apart from the rest.
func TestCacheOptions(t *testing.T) {
	selectors := map[string]func(labels map[string]string) bool{}
	for o, by := range CacheOptions() {
		if _, ok := o.(*v1alpha1.ClusterServiceVersion); ok {
			selectors["rest"] = func(l map[string]string) bool { return by.Label.Matches(set(l)) }
		}
	}
	for name, namespaces := range map[string][]string{"all": nil, "some": {ns}} {
		options := must.Value(copiesOptions(namespaces))(t)
		for _, by := range options.ByObject {
			selectors[name] = func(l map[string]string) bool { return by.Label.Matches(set(l)) }
		}
	}
	for from, want := range map[string]string{"": "rest", ns: "all some", "else": "all"} {
		labels := map[string]string{}
		if from != "" {
			labels["olm.copiedFrom"] = from
		}
		var got []string
		for name, matches := range selectors {
			if matches(labels) {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		must.Equal(t, "copied from "+from+": in the caches", strings.Join(got, " "), want)
	}
}

// set is a set of labels.
type set map[string]string

func (s set) Has(key string) bool              { _, ok := s[key]; return ok }
func (s set) Get(key string) string            { return s[key] }
func (s set) Lookup(key string) (string, bool) { value, ok := s[key]; return value, ok }
