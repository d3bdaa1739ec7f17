package packageserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// held are the digests of which texts are in the cache.
func (c *documents) heldDigests() []string {
	var digests []string
	for _, p := range c.packs {
		if p.bytes > 0 {
			digests = append(digests, p.digest)
		}
	}
	return digests
}

// made are the documents of a content that can be read.
func made(docs []*document, unread []string) []*document {
	if len(unread) > 0 {
		panic(fmt.Sprintf("%q cannot be read", unread))
	}
	return docs
}

// offersOf are the packages of a content as a catalog offers them.
func offersOf(c *documents, s source) []offer {
	var all []offer
	for _, d := range s.docs {
		all = append(all, offer{namespace: "n", source: &s, doc: d})
	}
	c.use(all)
	return all
}

// TestDocumentsAreBounded reads contents of which two fit into the cache: the texts that were not asked for the longest go, are made again
// when they are, and what is needed for tables stays.
func TestDocumentsAreBounded(t *testing.T) {
	c := &documents{log: logr.Discard(), limit: maxPacked, clock: clock.RealClock{}}
	var all []source
	for _, version := range []string{"1", "2", "3"} {
		x := testIndex(t, "a@"+version+".0.0")
		all = append(all, source{CatalogSource: &v1alpha1.CatalogSource{}, digest: x.Digest(), index: x, docs: made(c.of(t.Context(), x))})
		c.limit = 2*all[0].docs[0].held.Load().bytes() + 20
		offersOf(c, all[0])
	}
	must.Equal(t, "the cache holds", c.heldDigests(), []string{all[2].digest, all[0].digest})
	if len(all[1].docs) != 1 || all[1].docs[0].held.Load() != nil {
		t.Fatal("the second content has its text, or lost its documents")
	}
	must.Equal(t, "made again", must.Value(offersOf(c, all[1])[0].status())(t).PackageName, "a")
	if c.bytes > c.limit || all[1].docs[0].held.Load() == nil {
		t.Errorf("%d bytes of %d are held, and what was asked for is not among them", c.bytes, c.limit)
	}
	c.release(&snapshot{sources: all[2:]})
	if got := c.heldDigests(); len(got) != 0 && !slices.Equal(got, []string{all[2].digest}) || len(c.packs) != 1 {
		t.Errorf("%d contents, the cache holds %v, want only what is shown", len(c.packs), got)
	}
	past := source{CatalogSource: all[0].CatalogSource, digest: all[0].digest, docs: all[0].docs} // without index
	if _, err := offersOf(c, past)[0].status(); err == nil {
		t.Error("what is not served any more is read from nowhere")
	}
}

// TestDocumentsOverTheLimit reads a content that is too large for the cache: it is the same, only slower.
func TestDocumentsOverTheLimit(t *testing.T) {
	var packages []string
	for i := range 20 {
		packages = append(packages, fmt.Sprintf("p%02d@1.0.0", i))
	}
	x := testIndex(t, packages...)
	small, large := &documents{log: logr.Discard(), limit: 3000, clock: clock.RealClock{}}, &documents{log: logr.Discard(), limit: maxPacked, clock: clock.RealClock{}}
	some, all := source{index: x, docs: made(small.of(t.Context(), x))}, source{index: x, docs: made(large.of(t.Context(), x))}
	held := 0
	for i := range all.docs {
		if some.docs[i].held.Load() != nil {
			held++
		}
		got := must.Value((&offer{source: &some, doc: some.docs[i]}).tail(nil))(t)
		want, err := (&offer{source: &all, doc: all.docs[i]}).tail(nil)
		if err != nil || string(got) != string(want) || some.docs[i].sum != all.docs[i].sum {
			t.Errorf("%s differs, %v", all.docs[i].name, err)
		}
	}
	if held == 0 || held == len(all.docs) || small.bytes > small.limit {
		t.Errorf("%d of %d documents are held, in %d bytes of %d", held, len(all.docs), small.bytes, small.limit)
	}
}

func TestDocumentsAreMadeOnce(t *testing.T) {
	x := testIndex(t, "a@1.0.0")
	c := &documents{log: logr.Discard(), limit: maxPacked, clock: clock.RealClock{}}
	if first, second := made(c.of(t.Context(), x)), made(c.of(t.Context(), x)); len(first) != 1 || first[0] != second[0] {
		t.Errorf("got %v, then %v", first, second)
	}
}

// TestNothingIsAnsweredTooEarly asks before everything was looked at: nothing must look as if it were not there.
func TestNothingIsAnsweredTooEarly(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	w.storage.opened = make(chan struct{})
	for _, path := range []string{"packagemanifests", "packagemanifests?watch=true", "namespaces/x/packagemanifests/a", "namespaces/x/packagemanifests/a/icon"} {
		if answer := w.ask(t, path); answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "still being read") {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
	}
	if w.storage.ready() == nil {
		t.Error("the server is ready")
	}
}

// TestClusterThatCannotBeRead leaves things as they are.
func TestClusterThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.offer(t, "olm/global", "a@1.0.0")
	before := w.revision()
	w.broken = errors.New("the cache is gone")
	if err := w.storage.present.refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "list the CatalogSources: the cache is gone") {
		t.Errorf("got %v", err)
	}
	if got := w.names(t, "packagemanifests"); len(got) != 1 || w.revision() != before {
		t.Errorf("got %v at %s, before it was %s", got, w.revision(), before)
	}
}

// TestOddPackage survives what makes describing a package panic: the others are shown.
func TestOddPackage(t *testing.T) {
	d, p, err := convert(nil, "odd") // which no index of a catalog brings about, and is the only sure way
	if d != nil || p != nil || err == nil || !strings.Contains(err.Error(), "describe package odd") {
		t.Errorf("got %v, %v, %v", d, p, err)
	}
}
