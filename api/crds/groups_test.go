package crds_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/api/crds"
)

// TestGroups: they are those of all definitions, and whoever gets them may change them.
func TestGroups(t *testing.T) {
	want := map[string]bool{}
	for _, crd := range definitions(t) {
		want[crd.Spec.Group] = true
	}
	for range 2 {
		got := crds.Groups()
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), got); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
		got[0] = "changed"
	}
}
