package catalogsource

import (
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/test/must"
)

// withdrawn makes the spec one that cannot be acted on: what was read before is not wanted any more.
func (w *standbyWorld) withdrawn() {
	w.t.Helper()
	s := w.source()
	s.Spec = v1alpha1.CatalogSourceSpec{SourceType: "ftp"}
	if err := w.client.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// remade deletes the object and makes another of the same name, in which content is to be found.
func (w *standbyWorld) remade(configMap string) {
	w.t.Helper()
	s := w.source()
	if err := w.client.Delete(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
	other := &v1alpha1.CatalogSource{Spec: s.Spec}
	other.Namespace, other.Name, other.UID = s.Namespace, s.Name, "another"
	other.Spec.ConfigMap = configMap
	if err := w.client.Create(w.t.Context(), other); err != nil {
		w.t.Fatal(err)
	}
}

func (w *standbyWorld) visible() string {
	s := catalogstore.NewSet()
	if e, ok := (Contents{Leading: w.Leading, Standby: w.Contents}).Get(standbyRef); ok {
		s.Publish(standbyRef, e)
	}
	return published(s)
}

// TestASpecThatCannotBeActedOnEndsWhatWasRead, whoever leads: the packages of a catalog that was withdrawn must not be offered.
func TestASpecThatCannotBeActedOnEndsWhatWasRead(t *testing.T) {
	for name, test := range map[string]struct{ before, after bool }{
		"before it leads":             {before: true},
		"before it leads, and after":  {before: true, after: true},
		"only once it leads":          {after: true},
		"and the spec is mended then": {before: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStandbyWorld(t)
			w.looks(false)
			spec := w.source().Spec
			w.withdrawn()
			want := ", with a problem"
			if test.before {
				w.looks(false)
				must.Equal(t, "before it leads", w.visible(), want)
			}
			if test.after {
				w.Leading.Publish(standbyRef, catalogstore.Entry{Problem: "unknown sourcetype"})
				w.looks(true)
				if w.looks(true); w.visible() != want || len(w.known) != 0 {
					t.Errorf("once it leads: %s, %d waited for", w.visible(), len(w.known))
				}
				return
			}
			s := w.source()
			s.Spec = spec
			must.NoError(t, w.client.Update(t.Context(), s))
			w.looks(false)
			must.Equal(t, "once the spec is mended", w.visible(), "one")
		})
	}
}

// TestAnotherObjectOfTheNameHasContentOfItsOwn, though no one looked between the two.
func TestAnotherObjectOfTheNameHasContentOfItsOwn(t *testing.T) {
	t.Run("before it leads", func(t *testing.T) {
		w := newStandbyWorld(t)
		w.looks(false)
		w.remade("missing")
		w.looks(false)
		must.Equal(t, "visible", w.visible(), ", with a problem")
	})
	t.Run("once it leads", func(t *testing.T) {
		w := newStandbyWorld(t)
		w.looks(false)
		w.remade("missing")
		w.Leading.Publish(standbyRef, catalogstore.Entry{Problem: "no such ConfigMap"})
		if w.looks(true); w.visible() != ", with a problem" || len(w.known) != 0 {
			t.Errorf("got %s, %d waited for", w.visible(), len(w.known))
		}
	})
}

// TestWhatIsBeingReadOfAWithdrawnCatalogIsNotPublished when it arrives.
func TestWhatIsBeingReadOfAWithdrawnCatalogIsNotPublished(t *testing.T) {
	w := newStandbyWorld(t)
	old := &standbyKnown{uid: w.source().UID, reading: true}
	w.known[standbyRef] = old
	source := w.source()
	w.withdrawn()
	w.looks(false)
	now := must.Value(w.read(t.Context(), source, standbyRead{}))(t)
	w.finish(t.Context(), standbyRef, old, w.asked(source), now, nil)
	must.Equal(t, "visible", w.visible(), ", with a problem")
}
