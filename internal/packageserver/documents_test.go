package packageserver

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"fairlead.dev/fairlead/catalog"
)

// held are the digests in the cache.
func (c *documents) held() []string {
	var digests []string
	for _, p := range c.packs {
		digests = append(digests, p.digest)
	}
	return digests
}

func TestDocumentsAreBounded(t *testing.T) {
	one, two, three := testIndex(t, "a@1.0.0"), testIndex(t, "a@2.0.0"), testIndex(t, "a@3.0.0")
	first, err := newDocument(one, "a")
	if err != nil {
		t.Fatal(err)
	}
	c := &documents{limit: 2*len(first.packed) + 20}
	for _, x := range []*catalog.Index{one, two, one, three} {
		if _, err := c.of(x); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := c.held(), []string{one.Digest(), three.Digest()}; !slices.Equal(got, want) {
		t.Errorf("the cache holds %v, want what was used last, %v", got, want)
	}
	c.keepOnly([]string{three.Digest()})
	if got, want := c.held(), []string{three.Digest()}; !slices.Equal(got, want) {
		t.Errorf("the cache holds %v, want what is served, %v", got, want)
	}
}

// TestDocumentsOverTheLimit reads a content that is too large for the cache: it is the same, only slower.
func TestDocumentsOverTheLimit(t *testing.T) {
	var packages []string
	for i := range 20 {
		packages = append(packages, fmt.Sprintf("p%02d@1.0.0", i))
	}
	x := testIndex(t, packages...)
	small, large := &documents{limit: 2000}, &documents{limit: maxPacked}
	some, err := small.of(x)
	if err != nil {
		t.Fatal(err)
	}
	all, err := large.of(x)
	if err != nil {
		t.Fatal(err)
	}
	packed := 0
	for i := range all {
		if some[i].packed != nil {
			packed++
		}
		got, err := some[i].tail(x, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := all[i].tail(x, nil)
		if err != nil || string(got) != string(want) || some[i].sum != all[i].sum {
			t.Errorf("%s differs, %v", all[i].name, err)
		}
	}
	if packed == 0 || packed == len(all) || small.packs[0].bytes > small.limit {
		t.Errorf("%d of %d documents are held, in %d bytes of %d", packed, len(all), small.packs[0].bytes, small.limit)
	}
}

func TestDocumentsAreMadeOnce(t *testing.T) {
	x := testIndex(t, "a@1.0.0")
	c := &documents{limit: maxPacked}
	var group sync.WaitGroup
	got := make([][]*document, 8)
	for i := range got {
		group.Go(func() { got[i], _ = c.of(x) })
	}
	group.Wait()
	for i := range got {
		if len(got[i]) != 1 || got[i][0] != got[0][0] {
			t.Fatalf("request %d got %v, the first %v", i, got[i], got[0])
		}
	}
}
