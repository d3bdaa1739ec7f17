package catalogsource

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

const otherImage = "registry.example.com/other:v1"

// TestAVerdictIsAboutOneImage: what the manager has read of a refused image stays withheld when another is accepted, which is to be run.
func TestAVerdictIsAboutOneImage(t *testing.T) {
	inPods := func(w *world) {
		w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = map[string]string{PodAnnotation: "true"} })
	}
	for name, change := range map[string]func(w *world, v *verifier){
		"another image": func(w *world, _ *verifier) {
			w.registry.content = strings.Repeat("2", 64)
			inPods(w)
			w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = otherImage })
		},
		"another image, accepted by its name": func(w *world, v *verifier) {
			w.registry.content = strings.Repeat("2", 64)
			inPods(w)
			w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = otherImage })
			v.set(func(v *verifier) { v.all = true })
		},
		"the tag was moved": func(w *world, _ *verifier) {
			w.registry.content = strings.Repeat("2", 64)
			inPods(w)
		},
		"after a restart": func(w *world, v *verifier) {
			if _, err := w.indexes.FS(w.t.Context(), digestOne, tree(good)); err != nil {
				w.t.Fatal(err)
			}
			w.registry.content = strings.Repeat("2", 64)
			inPods(w)
			w.restarted()
			w.verifies(v)
		},
		"an image without a catalog": func(w *world, _ *verifier) {
			w.registry.content, w.registry.noCatalog = strings.Repeat("2", 64), true
			w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Image = otherImage })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(grpc(0)), namespaceOf())
			w.c.records.dir, w.c.records.indexes = t.TempDir(), w.indexes
			w.registry.content = strings.Repeat("1", 64)
			v := w.verifies(&verifier{})
			w.reconcile()
			v.set(func(v *verifier) { v.refused = []string{digestOne} })
			if _, s := w.reconcile(); w.packages() != nil || signature(s) != "False Unverified" {
				t.Fatalf("packages %v, signature %s", w.packages(), signature(s))
			}
			change(w, v)
			for range 4 {
				if _, s := w.reconcile(); w.packages() != nil {
					t.Fatalf("packages %v of a refused image are offered: %+v", w.packages(), s.Status)
				}
				w.Clock.Step(time.Second)
			}
			if got := w.running(); len(got) != 1 { // that no server answers is what the test is about
				t.Errorf("pods run %v", got)
			}
		})
	}
}

// TestContentKeepsItsOrigin while an accepted image that is to be run does not answer yet.
func TestContentKeepsItsOrigin(t *testing.T) {
	for name, test := range map[string]struct {
		spec   v1alpha1.CatalogSourceSpec
		change func(w *world, v *verifier)
		image  string
		want   int // packages
	}{
		"an accepted image":                   {spec: grpc(0), image: repo + ":latest", want: 1},
		"a ConfigMap":                         {spec: inConfigMap("content"), want: 1},
		"an image that is refused afterwards": {spec: grpc(0), change: func(_ *world, v *verifier) { v.refused = []string{digestOne} }},
		"both are accepted by their names":    {spec: grpc(0), image: repo + ":latest", change: func(_ *world, v *verifier) { v.all = true }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(test.spec), configMap("content", good), namespaceOf())
			w.registry.content = strings.Repeat("1", 64)
			v := w.verifies(&verifier{})
			if w.reconcile(); len(w.packages()) != 1 {
				t.Fatal("nothing is served")
			}
			w.registry.content = strings.Repeat("2", 64)
			w.update(func(s *v1alpha1.CatalogSource) {
				s.Spec = grpc(0)
				s.Spec.Image, s.Annotations = otherImage, map[string]string{PodAnnotation: "true"}
			})
			for range 3 {
				w.reconcile()
				w.Clock.Step(time.Second)
			}
			if test.change != nil {
				v.set(func(v *verifier) { test.change(w, v) })
				w.reconcile()
			}
			e, _ := w.c.catalogs.Get(ref)
			if len(w.packages()) != test.want || e.Index != nil && e.Image != test.image {
				t.Errorf("packages %v of image %q: %+v", w.packages(), e.Image, w.source().Status)
			}
		})
	}
}

// TestAnOriginIsKnownOnceItIsJudged: content that was set aside for an image that is to be run is judged as what it is once none is.
func TestAnOriginIsKnownOnceItIsJudged(t *testing.T) {
	w := newWorld(t, source(grpc(0)), namespaceOf())
	w.registry.content = strings.Repeat("1", 64)
	v := w.verifies(&verifier{})
	w.reconcile()
	w.registry.content = strings.Repeat("2", 64)
	w.update(func(s *v1alpha1.CatalogSource) {
		s.Spec.Image, s.Annotations = otherImage, map[string]string{PodAnnotation: "true"}
	})
	w.reconcile()
	w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = nil })
	v.set(func(v *verifier) { v.refused = []string{digestTwo} })
	for range 3 {
		w.reconcile()
		w.Clock.Step(time.Minute)
	}
	if e, _ := w.c.catalogs.Get(ref); e.Index == nil || e.Image != repo+":latest" {
		t.Errorf("published %+v: %+v", e, w.source().Status)
	}
	v.set(func(v *verifier) { v.refused = nil })
	w.Clock.Step(time.Minute)
	w.reconcile()
	if e, _ := w.c.catalogs.Get(ref); e.Index == nil || e.Image != otherImage || e.Index.Digest() != digestTwo {
		t.Errorf("accepted: %+v", e)
	}
}
