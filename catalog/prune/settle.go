package prune

import (
	"maps"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// settle decides which skipped entries are kept beside the line. Each must be
// skipped by something that is kept, as it was before, and if the line upgraded
// from it, what is kept of the line does so, too. None may lead to the head,
// which would not be the head then.
//
// place is where the line has to be extended to first, so that the entries that
// are kept in any case can be; it is -1 when all is well.
func (s *stretch) settle() (place int, reason string) {
	s.settled = true
	if s.empty() || len(s.wished) == 0 {
		return -1, ""
	}
	for _, name := range slices.Sorted(maps.Keys(s.must)) {
		if place, reason := s.support(name); place >= 0 {
			s.settled = false
			return place, reason
		}
	}
	for {
		s.beside = s.sustained()
		// The first entry beside the line that replaces or skips the head; empty if there is none.
		head, rival := s.head().Name, ""
		for name := range s.beside {
			e := s.entries[name]
			if (e.Replaces == head || slices.Contains(e.Skips, head)) && (rival == "" || name < rival) {
				rival = name
			}
		}
		switch {
		case rival == "":
			return -1, ""
		case s.must[rival]:
			s.settled = false
			return s.top - 1, "upgrades to what " + safetext.Quote(rival) + ", which is kept, upgrades from"
		}
		delete(s.wished, rival)
	}
}

// support looks for what skips an entry that is kept in any case, and upgrades
// from it: on the line if anything there does. What only skips it from beside
// the line is kept in any case, too.
func (s *stretch) support(name string) (place int, reason string) {
	if on := s.skippers(name); len(on) > 0 {
		return s.nearest(on), "skips " + safetext.Quote(name) + ", which is kept"
	}
	on := s.upgraders(catalog.Departure{Name: name, Version: &s.entries[name].Bundle.Version})
	if place := s.nearest(on); place >= 0 {
		return place, "upgrades from " + safetext.Quote(name) + ", which is kept"
	}
	for _, skipper := range s.skips[name] {
		if s.must[skipper] {
			return -1, ""
		}
	}
	if off := slices.Sorted(slices.Values(s.skips[name])); len(off) > 0 {
		s.ask(off[0], "skips "+safetext.Quote(name)+", which is kept", true)
		return s.support(off[0])
	}
	return -1, ""
}

// sustained are the wished entries without those that nothing kept skips.
func (s *stretch) sustained() map[string]bool {
	kept := make(map[string]bool, len(s.wished))
	for name := range s.wished {
		kept[name] = true
	}
	support := map[string]int{}
	var dropped []string
	for name := range kept {
		for _, skipper := range s.skips[name] {
			if place, ok := s.place[skipper]; ok && s.covers(place) || kept[skipper] {
				support[name]++
			}
		}
		if support[name] == 0 || !s.must[name] && !s.leadsOn(name) {
			dropped = append(dropped, name)
		}
	}
	for len(dropped) > 0 {
		name := dropped[len(dropped)-1]
		dropped = dropped[:len(dropped)-1]
		if !kept[name] {
			continue
		}
		delete(kept, name)
		for _, skipped := range slices.Compact(slices.Sorted(slices.Values(s.entries[name].Skips))) {
			if support[skipped]--; kept[skipped] && support[skipped] == 0 {
				dropped = append(dropped, skipped)
			}
		}
	}
	return kept
}

// leadsOn tells whether the kept part of the line upgrades from a skipped
// entry. If the line does not skip it, a skipRange may still lead from it to any
// part of the line: only the whole line is good enough then.
func (s *stretch) leadsOn(name string) bool {
	if on := s.skippers(name); len(on) > 0 {
		return slices.ContainsFunc(on, s.covers)
	}
	return s.covers(0) && s.covers(len(s.line)-1)
}
