package plan

import (
	"maps"
	"slices"
)

// shares counts work by the package that it is done for, so that one package's share can be bounded, and who has the largest can be named.
// Its zero value has none.
type shares struct {
	all      uint64
	packages map[string]uint64
}

func (s *shares) add(pkg string, work uint64) {
	if s.packages == nil {
		s.packages = map[string]uint64{}
	}
	s.all += work
	s.packages[pkg] += work
}

// of is the share of a package.
func (s *shares) of(pkg string) uint64 { return s.packages[pkg] }

// dearest is the package with the largest share, the first by name of several.
func (s *shares) dearest() string {
	var found string
	for _, pkg := range slices.Sorted(maps.Keys(s.packages)) {
		if found == "" || s.packages[pkg] > s.packages[found] {
			found = pkg
		}
	}
	return found
}
