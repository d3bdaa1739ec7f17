package graph

// Channel keeps one channel of each package, and no other. It reports whether one has it.
func (p *Picture) Channel(name string) bool {
	found := false
	for i := range p.Packages {
		var kept []ChannelPicture
		for _, c := range p.Packages[i].Channels {
			if c.Name == name {
				kept, found = append(kept, c), true
			}
		}
		p.Packages[i].Channels = kept
	}
	return found
}

// Newest keeps the newest entries of each channel, with the edges between them, and returns how many entries are left out.
func (p *Picture) Newest(most int) (left int) {
	for i := range p.Packages {
		for j := range p.Packages[i].Channels {
			c := &p.Packages[i].Channels[j]
			if len(c.Entries) <= most {
				continue
			}
			older := map[string]bool{}
			for _, e := range c.Entries[most:] {
				older[e.Name] = true
			}
			left += len(c.Entries) - most
			c.Entries = append([]EntryPicture{}, c.Entries[:most]...)
			for k := range c.Entries {
				e := &c.Entries[k]
				edges := []EdgePicture{}
				for _, edge := range e.Edges {
					if !older[edge.From] {
						edges = append(edges, edge)
					}
				}
				e.Edges = edges
			}
		}
	}
	return left
}
