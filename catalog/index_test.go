package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
)

// inMemory is a catalog of three packages that all provide one API, made
// without Load. The order of its objects is turned by n.
func inMemory(n int) *Catalog {
	c := &Catalog{}
	for _, pkg := range []string{"c", "a", "b"} {
		c.Packages = append(c.Packages, Package{Schema: SchemaPackage, Name: pkg, DefaultChannel: "stable"})
		channel := Channel{Schema: SchemaChannel, Package: pkg, Name: "stable"}
		for i, v := range []string{"2.0.0", "1.10.0", "1.9.0"} {
			name := pkg + ".v" + v
			entry := Entry{Name: name}
			if i < 2 {
				entry.Replaces = pkg + ".v" + []string{"1.10.0", "1.9.0"}[i]
			}
			channel.Entries = append(channel.Entries, entry)
			c.Bundles = append(c.Bundles, Bundle{Schema: SchemaBundle, Package: pkg, Name: name, Properties: []Property{
				{Type: PropertyBundleObject, Value: json.RawMessage(`{"data":"eyJhIjogMX0="}`)},
				{Type: PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":%q,"version":%q}`, pkg, v))},
				{Type: PropertyGVK, Value: json.RawMessage(`{"group":"g","version":"v1","kind":"K"}`)},
				{Type: PropertyGVK, Value: json.RawMessage(`{"group":"g","version":"v1","kind":"K"}`)},
				{Type: PropertyCSVMetadata, Value: json.RawMessage(`{"displayName":"x"}`)},
			}})
		}
		c.Channels = append(c.Channels, channel)
	}
	turn := func(n, length int) int { return n % length }
	c.Packages = slices.Concat(c.Packages[turn(n, 3):], c.Packages[:turn(n, 3)])
	c.Bundles = slices.Concat(c.Bundles[turn(n, 9):], c.Bundles[:turn(n, 9)])
	return c
}

func TestIndex(t *testing.T) {
	for n := range 9 {
		x, err := NewIndex(inMemory(n), "sha256:1")
		if err != nil || len(x.Problems()) > 0 {
			t.Fatalf("error %v, problems %v", err, x.Problems())
		}
		if x.Digest() != "sha256:1" {
			t.Errorf("digest %s", x.Digest())
		}
		must.Equal(t, "packages", x.PackageNames(), []string{"a", "b", "c"})
		var providers []string
		for _, b := range x.Providers(GVK{Group: "g", Version: "v1", Kind: "K"}) {
			providers = append(providers, b.Name)
		}
		want := strings.Fields("a.v2.0.0 a.v1.10.0 a.v1.9.0 b.v2.0.0 b.v1.10.0 b.v1.9.0 c.v2.0.0 c.v1.10.0 c.v1.9.0")
		must.Equal(t, "providers", providers, want)
		if got := x.Providers(GVK{Group: "g", Version: "v2", Kind: "K"}); got != nil {
			t.Errorf("providers of an unknown API: %v", got)
		}
	}
}

func TestIndexLookups(t *testing.T) {
	x := must.Value(NewIndex(inMemory(0), "sha256:1"))(t)
	b, ok := x.Bundle("a", "a.v1.10.0")
	if !ok || b.VersionText != "1.10.0" || len(b.Properties) != 3 {
		t.Fatalf("bundle %+v, found %v", b, ok)
	}
	manifests, err := x.Manifests(b)
	if diff := cmp.Diff([]json.RawMessage{json.RawMessage(`{"a": 1}`)}, manifests); diff != "" || err != nil {
		t.Errorf("manifests (-want +got), error %v:\n%s", err, diff)
	}
	metadata, err := x.CSVMetadata(b)
	if string(metadata) != `{"displayName":"x"}` || err != nil {
		t.Errorf("metadata %s, error %v", metadata, err)
	}
	stranger := &BundleInfo{Package: "a", Name: "none"}
	if manifests, err := x.Manifests(stranger); manifests != nil || err != nil {
		t.Errorf("manifests of no bundle: %s, error %v", manifests, err)
	}
	if metadata, err := x.CSVMetadata(stranger); metadata != nil || err != nil {
		t.Errorf("metadata of no bundle: %s, error %v", metadata, err)
	}
	if _, ok := x.Bundle("b", "a.v1.10.0"); ok {
		t.Error("a bundle was found in another package")
	}
	if _, ok := x.Package("none"); ok {
		t.Error("an unknown package was found")
	}
	p, _ := x.Package("a")
	if _, ok := p.Channel("none"); ok {
		t.Error("an unknown channel was found")
	}
	c, _ := p.Channel("stable")
	if e, ok := c.Entry("a.v1.9.0"); !ok || e.Bundle.Name != "a.v1.9.0" {
		t.Error("an entry was not found")
	}
	if _, ok := c.Entry("a.v9"); ok {
		t.Error("an unknown entry was found")
	}
	if _, err := NewIndex(nil, ""); err == nil {
		t.Error("no catalog: no error")
	}
}

// TestIndexOfLoadedCatalog compares with the same catalog after it was written
// and loaded, where payloads are packed and positions known.
func TestIndexOfLoadedCatalog(t *testing.T) {
	c := must.Value(Load(context.Background(), files(map[string]string{"a.json": string(written(t, WriteJSON, inMemory(0)))}), LoadOptions{}))(t)
	var texts []string
	for _, c := range []*Catalog{inMemory(0), c} {
		x := must.Value(NewIndex(c, ""))(t)
		var out bytes.Buffer
		dump(t, &out, x)
		texts = append(texts, out.String())
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("index (-in memory +loaded):\n%s", diff)
	}
}

// TestIndexConcurrentReads is of use with the race detector.
func TestIndexConcurrentReads(t *testing.T) {
	x := must.Value(NewIndex(inMemory(0), ""))(t)
	var want bytes.Buffer
	dump(t, &want, x)
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			var got bytes.Buffer
			dump(t, &got, x)
			if got.String() != want.String() {
				t.Error("two readers saw different things")
			}
		})
	}
	readers.Wait()
}

// TestValidateLeavesTheCatalog demands that judging and indexing change
// nothing.
func TestValidateLeavesTheCatalog(t *testing.T) {
	c := inMemory(0)
	c.Channels[0].Entries[0].Skips = []string{"", "x", ""}
	before := written(t, WriteJSON, c)
	Validate(c)
	must.Value(NewIndex(c, ""))(t)
	if !bytes.Equal(before, written(t, WriteJSON, c)) {
		t.Error("the catalog has changed")
	}
}
