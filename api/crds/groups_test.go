package crds_test

import (
	"maps"
	"slices"
	"testing"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/test/must"
)

// TestGroups: they are those of all definitions, and whoever gets them may change them.
func TestGroups(t *testing.T) {
	want := map[string]bool{}
	for _, crd := range definitions(t) {
		want[crd.Spec.Group] = true
	}
	for range 2 {
		got := crds.Groups()
		must.Equal(t, "groups", got, slices.Sorted(maps.Keys(want)))
		got[0] = "changed"
	}
}
