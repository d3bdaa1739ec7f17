package prune

import (
	"slices"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"
)

// TestUpgradersDoNotLeadBack has a line of which every entry has the same range.
func TestUpgradersDoNotLeadBack(t *testing.T) {
	skipRange := must.Value(version.ParseRange("<9.0.0"))(t)
	info := &catalog.ChannelInfo{Name: "c"}
	for major := uint64(4); major > 0; major-- { // the head first
		e := &catalog.EntryInfo{Name: string(rune('0' + major)), SkipRange: skipRange, InChain: true, Bundle: &catalog.BundleInfo{}}
		e.Bundle.Version.Version.Major = major
		info.Entries = append(info.Entries, e)
	}
	s := newStretch(info)
	from := func(major, minor uint64) catalog.Departure {
		v := version.VersionRelease{}
		v.Version.Major, v.Version.Minor = major, minor
		return catalog.Departure{Name: "installed", Version: &v}
	}
	if got := s.upgraders(from(2, 5)); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("from 2.5 to the places %v, want those of 4 and 3", got)
	}
	if got := s.upgraders(from(5, 0)); got != nil {
		t.Errorf("from 5.0 back to the places %v", got)
	}
}
