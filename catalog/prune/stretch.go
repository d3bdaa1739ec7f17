package prune

import (
	"fairlead.dev/fairlead/catalog"
)

// stretch is what is kept of a channel: a part of the replaces chain without a
// gap, its line, and skipped entries beside it.
type stretch struct {
	info *catalog.ChannelInfo
	why  reasons // of the channel
	// incidental is set if no one asked for the channel.
	incidental bool
	entries    map[string]*catalog.EntryInfo
	line       []*catalog.EntryInfo // the whole chain, from the head down
	place      map[string]int       // of the entries of the line
	skips      map[string][]string  // a skipped entry, and those that skip it, those on the line first

	top, bottom int               // of the line; top > bottom while nothing is kept
	must        map[string]bool   // skipped entries that are kept in any case
	wished      map[string]string // skipped entries that are kept if that is truthful, and why
	beside      map[string]bool   // skipped entries that are kept, as of the last settle
	settled     bool
}

func newStretch(c *catalog.ChannelInfo) *stretch {
	s := &stretch{
		info: c, entries: map[string]*catalog.EntryInfo{}, place: map[string]int{}, skips: map[string][]string{},
		bottom: -1, must: map[string]bool{}, wished: map[string]string{}, beside: map[string]bool{}, settled: true,
	}
	for _, e := range c.Entries { // the line comes first
		s.entries[e.Name] = e
		if e.InChain {
			s.place[e.Name] = len(s.line)
			s.line = append(s.line, e)
		}
		for _, skipped := range e.Skips {
			if by := s.skips[skipped]; len(by) == 0 || by[len(by)-1] != e.Name { // not named twice
				s.skips[skipped] = append(by, e.Name)
			}
		}
	}
	return s
}

// empty tells whether nothing of the channel is kept.
func (s *stretch) empty() bool { return s.top > s.bottom }

// head is the entry that is kept as the channel's head.
func (s *stretch) head() *catalog.EntryInfo { return s.line[s.top] }

// covers tells whether the entry at a place of the line is kept.
func (s *stretch) covers(place int) bool { return s.top <= place && place <= s.bottom }

// keeps tells whether an entry is kept.
func (s *stretch) keeps(name string) bool {
	if place, ok := s.place[name]; ok {
		return s.covers(place)
	}
	return s.beside[name]
}

// extend makes the line cover a place, and returns what is kept now and was not
// before, from the head down.
func (s *stretch) extend(place int) []*catalog.EntryInfo {
	var added []*catalog.EntryInfo
	switch {
	case s.empty():
		s.top, s.bottom = place, place
		added = s.line[place : place+1]
	case place < s.top:
		added = s.line[place:s.top]
		s.top = place
	case place > s.bottom:
		added = s.line[s.bottom+1 : place+1]
		s.bottom = place
	default:
		return nil
	}
	s.settled = false
	return added
}

// ask asks for a skipped entry for a reason.
func (s *stretch) ask(name, reason string, must bool) {
	if must && !s.must[name] {
		s.must[name], s.wished[name], s.settled = true, reason, false
	}
	if _, ok := s.wished[name]; !ok {
		s.wished[name], s.settled = reason, false
	}
}

// upgraders are the places of the line that upgrade from a version.
func (s *stretch) upgraders(from catalog.Departure) []int {
	var places []int
	for i, e := range s.line {
		if e.EdgeFrom(from) != catalog.NoEdge {
			places = append(places, i)
		}
	}
	return places
}

// skippers are the places of the line that skip an entry.
func (s *stretch) skippers(name string) []int {
	var places []int
	for _, skipper := range s.skips[name] {
		if place, ok := s.place[skipper]; ok {
			places = append(places, place)
		}
	}
	return places
}

// nearest is the place to extend the line to, so that it has one of several:
// preferably further down, where the head stays the same. It is -1 if the line
// has one already, or there is none.
func (s *stretch) nearest(places []int) int {
	above, below := -1, -1
	for _, p := range places {
		switch {
		case s.empty() || s.covers(p):
			return -1
		case p > s.bottom && (below < 0 || p < below):
			below = p
		case p < s.top && p > above:
			above = p
		}
	}
	if below >= 0 {
		return below
	}
	return above
}
