package resolution

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"
)

// TestUnnamedInNamespace decides on what has no names: nothing is mixed up with something else, and all that is said names it by what is known.
func TestUnnamedInNamespace(t *testing.T) {
	in := NamespaceRequest{
		Namespace:     "ns",
		Subscriptions: []Subscription{{Package: "web", Catalog: benchRef}, {Package: "store", Catalog: benchRef}, {Package: "web", Channel: "fast", Catalog: benchRef}},
		Operators:     []Operator{{Version: semver.MustParse("1.2.0"), Package: "db"}, {Version: semver.MustParse("1.0.0")}},
	}
	result := namespace(t, in)
	got := result.String()
	for _, want := range []string{"(unnamed, of package web)", "(unnamed, of package web #2)", "(unnamed, of package store)"} {
		if !strings.Contains(got, "subscription "+want+"\n") {
			t.Errorf("the decision does not speak of %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "subscription  ") || strings.Contains(got, "Subscription ;") {
		t.Errorf("something is named by nothing:\n%s", got)
	}
	if why := result.Why("(unnamed, version 1.2.0 of package db)"); len(why) == 0 {
		t.Error("an operator without a name is lost")
	}
	for range 20 {
		if again := decided(t, shuffled(in)); again != got {
			t.Fatalf("the order decides:\n%s\n%s", got, again)
		}
	}
}
