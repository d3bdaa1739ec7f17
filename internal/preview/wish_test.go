package preview

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/catalogset"

	"github.com/google/go-cmp/cmp"
)

func TestParseCatalog(t *testing.T) {
	for text, want := range map[string]Catalog{
		"cat=dir":                      {Ref: catalogset.Ref{Name: "cat"}, Source: "dir"},
		"olm/cat,priority=-5=a=b,c":    {Ref: catalogset.Ref{Namespace: "olm", Name: "cat"}, Priority: -5, Source: "a=b,c"},
		"cat=registry.example.com/a:1": {Ref: catalogset.Ref{Name: "cat"}, Source: "registry.example.com/a:1"},
	} {
		if got, err := ParseCatalog(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "has no =", "dir": "has no =", "=dir": "is missing", "cat=": "is missing", "a/b/c=dir": "is missing", "cat,priority=5": "is missing",
		"cat,priority=high=dir": `priority "high" is not a number`, "cat,weight=5=dir": `option "weight" is not known`,
	} {
		if _, err := ParseCatalog(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestParseInstalled(t *testing.T) {
	for text, want := range map[string]Installed{
		"a.v1":              {Name: "a.v1"},
		"a.v1@cat/stable":   {Name: "a.v1", Catalog: catalogset.Ref{Name: "cat"}, Channel: "stable"},
		"a.v1@olm/cat/fast": {Name: "a.v1", Catalog: catalogset.Ref{Namespace: "olm", Name: "cat"}, Channel: "fast"},
	} {
		if got, err := ParseInstalled(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "@cat/stable", "a@", "a@cat", "a@/stable", "a@cat/", "a@x/y/z/stable", "a@/cat/stable"} {
		if got, err := ParseInstalled(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestParseWish(t *testing.T) {
	cat := catalogset.Ref{Name: "cat"}
	for text, want := range map[string]Wish{
		"a":                  {Package: "a"},
		"a:stable":           {Package: "a", Channel: "stable"},
		"a@a.v1":             {Package: "a", StartingCSV: "a.v1"},
		"a%cat":              {Package: "a", Catalog: cat},
		"a:stable@a.v1%cat":  {Package: "a", Channel: "stable", StartingCSV: "a.v1", Catalog: cat},
		"a:stable%olm/cat":   {Package: "a", Channel: "stable", Catalog: catalogset.Ref{Namespace: "olm", Name: "cat"}},
		"a@starting:odd%cat": {Package: "a", StartingCSV: "starting:odd", Catalog: cat},
	} {
		got, err := ParseWish(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", ":stable", "a:", "a@", "a%", "@a.v1", "a:@b", "a%/cat", "a%b/", "a%b/c/d"} {
		if got, err := ParseWish(text); err == nil {
			t.Errorf("%q: %+v", text, got)
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
		if w, err := ParseWish(text); err == nil && w.Package == "" {
			t.Errorf("wish %q: %+v", text, w)
		}
	})
}
