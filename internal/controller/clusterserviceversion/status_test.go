package clusterserviceversion

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestStale: a pass over a CSV that a cache shows as it was before the last write would write the same again.
func TestStale(t *testing.T) {
	of := func(uid, version string) *v1alpha1.ClusterServiceVersion {
		csv := newCSV("op.v1")
		csv.UID, csv.ResourceVersion = types.UID(uid), version
		return csv
	}
	for name, tc := range map[string]struct {
		before, after, cached string
		uid                   string
		want                  bool
	}{
		"the version that was written over":       {"5", "9", "5", "a", true},
		"one between the two":                     {"5", "9", "7", "a", true},
		"the one that was written":                {"5", "9", "9", "a", false},
		"a later one":                             {"5", "9", "12", "a", false},
		"another object of the name, as restored": {"5", "9", "3", "b", false},
		"versions that are no numbers":            {"x", "y", "x", "a", true},
		"nothing was changed":                     {"5", "5", "5", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			var w writes
			must.Equal(t, "stale before anything was written", w.stale(of("a", tc.before)), false)
			w.remember(of("a", tc.before), of("a", tc.after), time.Now())
			must.Equal(t, "stale", w.stale(of(tc.uid, tc.cached)), tc.want)
			w.forget(key(ns, "op.v1"))
			must.Equal(t, "stale after it was forgotten", w.stale(of("a", tc.before)), false)
		})
	}
}
