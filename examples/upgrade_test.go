package examples

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"

	"github.com/google/go-cmp/cmp"
)

// TestUpgradeGraph pins the story that the catalogs tell: who replaces and skips whom, head first.
func TestUpgradeGraph(t *testing.T) {
	tests := map[string]map[string]string{
		"catalog-v1": {
			"greeter-operator/stable":      "1.1.0 replaces 1.0.0 skips 1.0.1, 1.0.0",
			"greeter-operator/candidate":   "1.1.0 replaces 1.0.0 skips 1.0.1, 1.0.0, 1.0.1 replaces 1.0.0",
			"guestbook-operator/stable":    "1.0.0",
			"guestbook-operator/candidate": "1.0.1 replaces 1.0.0, 1.0.0",
		},
		"catalog": {
			"greeter-operator/stable":      "1.2.0 replaces 1.1.0, 1.1.0 replaces 1.0.0 skips 1.0.1, 1.0.0",
			"greeter-operator/candidate":   "1.2.0 replaces 1.1.0, 1.1.0 replaces 1.0.0 skips 1.0.1, 1.0.0, 1.0.1 replaces 1.0.0",
			"guestbook-operator/stable":    "1.2.0 replaces 1.1.0, 1.1.0 replaces 1.0.0 skips 1.0.1, 1.0.0",
			"guestbook-operator/candidate": "1.2.0 replaces 1.1.0, 1.1.0 replaces 1.0.0 skips 1.0.1, 1.0.0, 1.0.1 replaces 1.0.0",
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			index, err := catalog.NewIndex(loadCatalog(t, name), "")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, pkg := range index.PackageNames() {
				info, _ := index.Package(pkg)
				if info.DefaultChannel != "stable" {
					t.Errorf("the default channel of %s is %s", pkg, info.DefaultChannel)
				}
				for _, channel := range info.Channels {
					got[pkg+"/"+channel.Name] = graph(channel)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func graph(channel *catalog.ChannelInfo) string {
	short := func(name string) string { return strings.TrimPrefix(name, channel.Package+".v") }
	var entries []string
	for _, e := range channel.Entries {
		text := short(e.Name)
		if e.Replaces != "" {
			text += " replaces " + short(e.Replaces)
		}
		for _, skipped := range e.Skips {
			text += " skips " + short(skipped)
		}
		entries = append(entries, text)
	}
	return strings.Join(entries, ", ")
}

// TestEntriesAgreeWithTheBundles compares the edges of the catalogs with those that the bundles declare.
func TestEntriesAgreeWithTheBundles(t *testing.T) {
	bundles := loadBundles(t)
	for _, name := range []string{"catalog-v1", "catalog"} {
		for _, channel := range loadCatalog(t, name).Channels {
			for _, entry := range channel.Entries {
				spec := bundles[entry.Name].CSV.Spec
				if entry.Replaces != spec.Replaces || !cmp.Equal(entry.Skips, spec.Skips) {
					t.Errorf("%s: %s/%s: %+v, but the bundle replaces %q and skips %q", name, channel.Package, channel.Name, entry, spec.Replaces, spec.Skips)
				}
			}
		}
	}
}

func TestDeprecations(t *testing.T) {
	want := map[string][]string{
		"catalog-v1": nil,
		"catalog":    {"greeter-operator.v1.0.0", "guestbook-operator.v1.0.0"},
	}
	for name, want := range want {
		var got []string
		for _, d := range loadCatalog(t, name).Deprecations {
			for _, entry := range d.Entries {
				got = append(got, entry.Reference.Name)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
