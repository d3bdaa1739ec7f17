package catalogserver

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func emptyIndex(t testing.TB, digest string) *catalog.Index {
	t.Helper()
	x := must.Value(catalog.NewIndex(&catalog.Catalog{}, digest))(t)
	return x
}

func TestSetTellsContentsApart(t *testing.T) {
	now := time.Unix(100, 900_000_000)
	s := &Set{Now: func() time.Time { return now }}
	a, b := emptyIndex(t, "a"), emptyIndex(t, "b")
	steps := []struct {
		why      string
		publish  *catalog.Index
		after    time.Duration
		changed  bool
		modified int64
	}{
		{"the first content", a, 0, true, 100},
		{"the same again is no change", emptyIndex(t, "a"), time.Minute, false, 100},
		{"another one", b, 0, true, 160},
		{"one more in the same second has a time of its own", a, 0, true, 161},
		{"and so has the next", b, 0, true, 162},
		{"later, time goes its way", a, time.Hour, true, 3760},
	}
	for _, step := range steps {
		now = now.Add(step.after)
		if got := s.Publish("c", step.publish); got != step.changed {
			t.Errorf("%s: Publish = %t", step.why, got)
		}
		served, ok := s.Catalog("c")
		if !ok || served.Modified.Unix() != step.modified || served.Index.Digest() != step.publish.Digest() {
			t.Errorf("%s: served %v of %v", step.why, served.Index.Digest(), served.Modified)
		}
	}
}

func TestSetFindsTheOnlyCatalogWithoutAName(t *testing.T) {
	var s Set
	if _, ok := s.Catalog(""); ok {
		t.Error("an empty set has a catalog")
	}
	s.Publish("a", emptyIndex(t, "a"))
	if served, ok := s.Catalog(""); !ok || served.Index.Digest() != "a" {
		t.Error("the only catalog was not found")
	}
	s.Publish("b", emptyIndex(t, "b"))
	if _, ok := s.Catalog(""); ok {
		t.Error("one of two was found without a name")
	}
	s.Withdraw("a")
	if served, ok := s.Catalog(""); !ok || served.Index.Digest() != "b" {
		t.Error("the only one left was not found")
	}
	if _, ok := s.Catalog("a"); ok {
		t.Error("a withdrawn catalog was found")
	}
}
