package catalog

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// TestBuildRefusesWhatIsTooMuch: a part of a catalog is not served as if it were the catalog, and the error names the limit and the place.
func TestBuildRefusesWhatIsTooMuch(t *testing.T) {
	bundle := func(i int, properties string) string {
		return fmt.Sprintf(`{"schema":"olm.bundle","package":"p","name":"p.v%d","image":"example.com/p:1","properties":[{"type":"olm.package","value":{"packageName":"p","version":"%d.0.0"}}%s]}`+"\n", i, i, properties)
	}
	many := func(properties func(i int) string) string {
		var text strings.Builder
		for i := range 1000 {
			text.WriteString(bundle(i, properties(i)))
		}
		return text.String()
	}
	long := strings.Repeat("x", 10_000)
	aliases := "schema: olm.channel\npackage: p\nname: c%d\nmeta: &m " + long + "\nmore: [" + strings.Repeat("*m, ", 500) + "]\n---\n"
	for name, test := range map[string]struct {
		text   string
		limits Limits
		want   *LimitError
		at     bool // whether the error names a position
	}{
		"properties": {many(func(i int) string { return fmt.Sprintf(`,{"type":"t","value":"%d%s"}`, i, long) }), Limits{MemoryBytes: 5 << 20}, &LimitError{Limit: "MemoryBytes", Value: 5 << 20}, false},
		"APIs": {many(func(i int) string {
			return strings.Repeat(fmt.Sprintf(`,{"type":"olm.gvk","value":{"group":"g","version":"v","kind":"K%d"}}`, i), 20)
		}), Limits{MemoryBytes: 5 << 20}, &LimitError{Limit: "MemoryBytes", Value: 5 << 20}, false},
		"payloads are free": {many(func(i int) string {
			return fmt.Sprintf(`,{"type":"olm.csv.metadata","value":{"description":"%d%s"}}`, i, long)
		}), Limits{MemoryBytes: 5 << 20}, nil, false},
		"bytes":     {many(func(int) string { return "" }), Limits{TotalBytes: 10_000}, &LimitError{Limit: "TotalBytes", Value: 10_000}, true},
		"documents": {many(func(int) string { return "" }), Limits{Documents: 10}, &LimitError{Limit: "Documents", Value: 10}, true},
		"aliases":   {strings.Repeat(aliases, 20), Limits{TotalBytes: 20 << 20}, &LimitError{Limit: "TotalBytes", Value: 20 << 20}, false},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := Build(t.Context(), fstest.MapFS{"c.yaml": {Data: []byte(test.text)}}, "d", filepath.Join(t.TempDir(), "index"), LoadOptions{Limits: test.limits})
			if x != nil {
				defer x.Close()
			}
			var got *LimitError
			switch {
			case test.want == nil && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != nil && (!errors.As(err, &got) || got.Limit != test.want.Limit || got.Value != test.want.Value || (got.At.File == "c.yaml") != test.at):
				t.Errorf("got %+v, %v, want %+v, with a position: %t", got, err, test.want, test.at)
			}
		})
	}
}

// TestFewDocumentsAreAhead of one that takes long: their number and their bytes are bounded, and a large one is never shut out.
func TestFewDocumentsAreAhead(t *testing.T) {
	a := newAhead(100)
	for range maxAhead {
		if !a.tryEnter(0) {
			t.Fatal("there is no room among few")
		}
	}
	if a.tryEnter(0) {
		t.Errorf("more than %d are ahead", maxAhead)
	}
	a = newAhead(100)
	if !a.tryEnter(1000) || a.tryEnter(1) {
		t.Error("one larger than all the room is alone")
	}
	entered := make(chan bool)
	go func() { entered <- a.enter(t.Context(), 50) }()
	select {
	case <-entered:
		t.Fatal("it did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	a.leave()
	if !<-entered || a.bytes != 50 {
		t.Errorf("%d bytes are ahead, want 50", a.bytes)
	}
}

// TestAnAPIListedTwiceHasOneProvider, and many of them take no time.
func TestAnAPIListedTwiceHasOneProvider(t *testing.T) {
	b := &BundleInfo{Package: "p", Name: "b"}
	for range 2 {
		for i := range 90_000 {
			b.Provides = append(b.Provides, GVK{Group: "g", Version: "v", Kind: fmt.Sprint(i)})
		}
	}
	x := &Index{bundles: map[bundleKey]*BundleInfo{{"p", "b"}: b}}
	start := time.Now()
	x.providers = providersAmong(x.bundles)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if got := x.Providers(b.Provides[7]); len(got) != 1 || got[0] != b || len(x.providers) != 90_000 {
		t.Errorf("%d providers of one API, %d APIs", len(got), len(x.providers))
	}
}

// TestJSONValues holds that quoted text counts once, and that nothing counts as less than it has.
func TestJSONValues(t *testing.T) {
	for text, want := range map[string]int{
		``: 1, `1`: 1, `"a,b:[{"`: 1, `"a\",b"`: 1, `[1,2,3]`: 4, `{"a":1}`: 3, `{"a":{"b":[]},"c":"\\"}`: 8,
	} {
		if got := JSONValues(text); got != want {
			t.Errorf("%s has %d values, want %d", text, got, want)
		}
		if got := JSONValues([]byte(text)); got != want {
			t.Errorf("%s has %d values as bytes, want %d", text, got, want)
		}
	}
}

// TestToJSON keeps JSON, half characters included, and converts YAML.
func TestToJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "\ud83d\ude00"}`: `{"a": "\ud83d\ude00"}`,
		`["\ud83d"]`:            `["\ud83d"]`,
		"a: yes":                `{"a":true}`,
		"{a: b}":                `{"a":"b"}`,
	} {
		if got, err := ToJSON([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	if _, err := ToJSON([]byte(`{"a": "\ud83d\ude00"`)); err == nil {
		t.Error("half a document is accepted")
	}
}
