package packageserver

import (
	"fmt"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestHowMuchOfThePastIsKept by the number of snapshots, and by the documents that only they hold.
func TestHowMuchOfThePastIsKept(t *testing.T) {
	tests := map[string]struct {
		digest    func(i int) string
		documents int
		snapshots int
		want      int
	}{
		"small contents":                     {digest: func(i int) string { return fmt.Sprint(i) }, documents: 1, snapshots: maxPast + 20, want: maxPast},
		"large contents":                     {digest: func(i int) string { return fmt.Sprint(i) }, documents: maxPastDocuments / 4, snapshots: 20, want: 4},
		"one that is larger than the bound":  {digest: func(i int) string { return fmt.Sprint(i) }, documents: maxPastDocuments + 1, snapshots: 20, want: 1},
		"contents that come and go are few":  {digest: func(i int) string { return fmt.Sprint(i % 2) }, documents: maxPastDocuments / 4, snapshots: 20, want: 21},
		"contents that come and go are many": {digest: func(i int) string { return fmt.Sprint(i % 10) }, documents: maxPastDocuments / 4, snapshots: 20, want: 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPresent(Config{Log: logr.Discard(), Clock: clocktesting.NewFakePassiveClock(created.Time)})
			for i := range test.snapshots + 1 {
				digest := test.digest(i)
				docs := make([]*document, test.documents)
				for i := range docs {
					docs[i] = &document{name: fmt.Sprint(i)}
				}
				p.replace(newSnapshot([]source{{CatalogSource: &v1alpha1.CatalogSource{}, digest: digest, docs: docs}}, nil))
			}
			must.Equal(t, "snapshots of the past are kept", len(p.before), test.want)
		})
	}
}

// TestRevisionsOfClients: a process takes over a revision of another one that is a little ahead, and no other that a client makes up.
func TestRevisionsOfClients(t *testing.T) {
	for name, test := range map[string]struct {
		ahead time.Duration
		taken bool
	}{
		"a little ahead": {maxAhead / 2, true}, "at the bound": {maxAhead, true}, "beyond it": {maxAhead + time.Second, false}, "years ahead": {10 * 365 * 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.offer(t, "olm/global", "a@1.0.0")
			p := w.storage.present
			before := p.now().revision
			asked := tick(w.clock.Now().Add(test.ahead))<<contentBits | before&contentMask
			if known := p.at(asked); known == nil || known.revision&contentMask != before&contentMask {
				t.Fatalf("what shows the same is not known: %v", known)
			}
			want := before
			if test.taken {
				want = asked
			}
			if got := p.now().revision; got != want {
				t.Errorf("the revision is %d, want %d; it was %d and %d was asked for", got, want, before, asked)
			}
		})
	}
}

// TestWhatIsNoticed are the changes that show in packages, and those that do not.
func TestWhatIsNoticed(t *testing.T) {
	source := func(change func(*v1alpha1.CatalogSource)) any {
		s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{UID: "1", Labels: map[string]string{"a": "b"}}}
		s.Spec.DisplayName, s.Spec.Publisher, s.Spec.Priority = "name", "publisher", 1
		change(s)
		return s
	}
	group := func(excludes string) any {
		return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.ExcludeGlobalNamespaceAnnotation: excludes}}}
	}
	base := source(func(*v1alpha1.CatalogSource) {})
	for name, test := range map[string]struct {
		before, after any
		want          bool
	}{
		"nothing":               {base, base, false},
		"status":                {base, source(func(s *v1alpha1.CatalogSource) { s.Status.Message = "other" }), false},
		"image":                 {base, source(func(s *v1alpha1.CatalogSource) { s.Spec.Image = "other" }), false},
		"made again":            {base, source(func(s *v1alpha1.CatalogSource) { s.UID = "2" }), true},
		"label":                 {base, source(func(s *v1alpha1.CatalogSource) { s.Labels = nil }), true},
		"display name":          {base, source(func(s *v1alpha1.CatalogSource) { s.Spec.DisplayName = "other" }), true},
		"publisher":             {base, source(func(s *v1alpha1.CatalogSource) { s.Spec.Publisher = "other" }), true},
		"priority":              {base, source(func(s *v1alpha1.CatalogSource) { s.Spec.Priority = 2 }), true},
		"group excludes":        {group(""), group("true"), true},
		"group says it is not":  {group(""), group("false"), false},
		"something else":        {&v1alpha1.Subscription{}, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, true},
		"something else, equal": {&v1alpha1.Subscription{}, &v1alpha1.Subscription{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			OnChange(func() { n++ }).OnUpdate(test.before, test.after)
			if (n == 1) != test.want || n > 1 {
				t.Errorf("called %d times, want a call: %t", n, test.want)
			}
		})
	}
	n := 0
	handler := OnChange(func() { n++ })
	handler.OnAdd(base, false)
	handler.OnDelete(base)
	must.Equal(t, "an event of a new and one of a deleted catalog make calls", n, 2)
}

// TestPriorityShows: a change of the priority alone makes another catalog the first that offers a package.
func TestPriorityShows(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/first", "a@1.0.0")
	w.offer(t, "olm/second", "a@2.0.0")
	before := w.revision()
	w.sources[1].Spec.Priority = 10
	w.refresh(t)
	o, found := w.storage.present.now().find("mine", "olm", "a")
	if !found || o.source.Name != "second" || w.revision() == before {
		t.Errorf("found %t in %s, at %s after %s", found, o.source.Name, w.revision(), before)
	}
}
