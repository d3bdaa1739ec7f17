package preview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/catalog"
)

func TestParseCatalog(t *testing.T) {
	for text, want := range map[string]Catalog{
		"cat=dir":                      {Ref: catalog.Ref{Name: "cat"}, Source: "dir"},
		"olm/cat,priority=-5=a=b,c":    {Ref: catalog.Ref{Namespace: "olm", Name: "cat"}, Priority: -5, Source: "a=b,c"},
		"cat=registry.example.com/a:1": {Ref: catalog.Ref{Name: "cat"}, Source: "registry.example.com/a:1"},
	} {
		if got, err := ParseCatalog(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": `--catalog "": it has no =; write NAME=DIR`, "dir": "has no =", "=dir": "the catalog is missing", "cat=": "its directory or image is missing",
		"a/b/c=dir": `"b/c" is not a valid catalog name: a lowercase RFC 1123 subdomain must consist of`, "cat,priority=5": "image is missing",
		"Bad Name=dir": `"Bad Name" is not a valid catalog name: `, "/cat=dir": "the namespace is missing", "a.b/cat=dir": `"a.b" is not a valid namespace name: `,
		"cat,priority=high=dir": `priority "high" is not a number`, "cat,priority==dir": `priority "" is not`, "cat,priority=99999999999=dir": "of 32 bits",
		"cat,weight=5=dir": `option "weight" is not known`, "cat,=dir": `option "" is not known`,
	} {
		if _, err := ParseCatalog(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestParseInstalled(t *testing.T) {
	for text, want := range map[string]Installed{
		"a.v1":              {Name: "a.v1"},
		"a.v1@cat/stable":   {Name: "a.v1", Catalog: catalog.Ref{Name: "cat"}, Channel: "stable"},
		"a.v1@olm/cat/fast": {Name: "a.v1", Catalog: catalog.Ref{Namespace: "olm", Name: "cat"}, Channel: "fast"},
	} {
		if got, err := ParseInstalled(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": `--installed "": the ClusterServiceVersion is missing; write NAME or`, "@cat/stable": "the ClusterServiceVersion is missing", "a@": "the catalog or the channel is missing",
		"a@cat": "the catalog or the channel is missing", "a@/stable": "the catalog is missing", "a@cat/": "the channel is missing",
		"a@x/y/z/stable": `"y/z" is not a valid catalog name`, "a@/cat/stable": "the namespace is missing", "A b": `"A b" is not a valid ClusterServiceVersion name: `,
		"a@cat/st able": `"st able" is not a valid channel name: it must consist of`, "a@CAT/stable": `"CAT" is not a valid catalog name`,
	} {
		if got, err := ParseInstalled(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %s", text, got, err, want)
		}
	}
}

func TestParseWish(t *testing.T) {
	cat := catalog.Ref{Name: "cat"}
	for text, want := range map[string]Request{
		"a":                 {Package: "a"},
		"a:stable":          {Package: "a", Channel: "stable"},
		"a@a.v1":            {Package: "a", StartingCSV: "a.v1"},
		"a%cat":             {Package: "a", Catalog: cat},
		"a:stable@a.v1%cat": {Package: "a", Channel: "stable", StartingCSV: "a.v1", Catalog: cat},
		"a:stable%olm/cat":  {Package: "a", Channel: "stable", Catalog: catalog.Ref{Namespace: "olm", Name: "cat"}},
		"a_B:4.2-S_x@a.v1":  {Package: "a_B", Channel: "4.2-S_x", StartingCSV: "a.v1"},
	} {
		got, err := ParseRequest(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"": `--subscribe "": the package is missing; write PACKAGE[:CHANNEL][@STARTING_CSV][%CATALOG]`, ":stable": "the package is missing", "a:": "the channel is missing",
		"a@": "the ClusterServiceVersion is missing", "a%": "the catalog is missing", "@a.v1": "the package is missing", "a:@b": "the channel is missing",
		"a%/cat": "the namespace is missing", "a%b/": "the catalog is missing", "a%b/c/d": `"c/d" is not a valid catalog name`,
		"a b": `"a b" is not a valid package name: `, "a:b c": `"b c" is not a valid channel name`, "a@B": `"B" is not a valid ClusterServiceVersion name`,
		"a:b:c": `"b:c" is not a valid channel name`, "a\x1b": `"a\x1b" is not a valid package name`, "a@x:odd%cat": `"x:odd" is not`,
	} {
		if got, err := ParseRequest(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v, want %s", text, got, err, want)
		}
	}
}

// FuzzParse: whatever is read, nothing that has to be there is empty.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a:stable@a.v1%olm/cat", "a.v1@cat/stable", "cat,priority=5=dir", "%@:", "a%b%c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseCatalog(text); err == nil && (c.Ref.Name == "" || c.Source == "") {
			t.Errorf("catalog %q: %+v", text, c)
		}
		if i, err := ParseInstalled(text); err == nil && (i.Name == "" || (i.Channel == "") != (i.Catalog.Name == "")) {
			t.Errorf("installed %q: %+v", text, i)
		}
		if w, err := ParseRequest(text); err == nil && w.Package == "" {
			t.Errorf("wish %q: %+v", text, w)
		}
	})
}
