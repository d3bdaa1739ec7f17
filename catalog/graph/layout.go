package graph

import (
	"cmp"
	"slices"
)

// The measures of a drawing, in pixels.
const (
	rowHeight  = 22
	charWidth  = 7.3 // of the monospace font at its size
	laneWidth  = 10
	panelSpace = 28 // between channels, and around them
	titleSpace = 46 // above the first row of a channel
	maxLanes   = 60 // beyond that skipRanges are only said, not drawn
	sheetWidth = 2600
)

// panel is where the parts of a channel are drawn. Each version has a row of
// its own, so that labels never meet, and the edges to an entry share one lane
// beside the rows, from the oldest they come from up to the entry.
type panel struct {
	channel ChannelPicture
	rows    []row
	lanes   []lane
	columns int // how many lanes there are beside each other
	names   int // characters of the longest name
	notes   int // and of the longest note
	x, y    float64
	unseen  bool // skipRanges are not drawn
}

// row is a version; the entry is nil for one that the channel only names.
type row struct {
	name  string
	note  string
	entry *EntryPicture
}

// lane holds the edges of one kind to one entry.
type lane struct {
	kind     Kind
	to       int   // row
	from     []int // rows
	top, end int   // the first and the last row
	column   int
}

func newPanel(c ChannelPicture) *panel {
	p := &panel{channel: c}
	place := map[string]int{}
	for i := range c.Entries {
		e := &c.Entries[i]
		if _, repeated := place[e.Name]; !repeated {
			place[e.Name] = len(p.rows)
		}
		p.rows = append(p.rows, row{name: e.Name, note: e.note(e.Name == c.Head), entry: e})
	}
	for _, e := range c.Entries {
		for _, edge := range e.Edges {
			if _, ok := place[edge.From]; !ok {
				place[edge.From] = len(p.rows)
				p.rows = append(p.rows, row{name: edge.From, note: "not in this channel"})
			}
		}
	}
	for _, r := range p.rows {
		p.names = max(p.names, len([]rune(show(r.name))))
		p.notes = max(p.notes, len([]rune(r.note)))
	}
	p.route(place)
	return p
}

// route gives the edges lanes.
func (p *panel) route(place map[string]int) {
	for i, e := range p.channel.Entries {
		lanes := map[Kind]*lane{}
		for _, edge := range e.Edges {
			from := place[edge.From]
			if edge.Kind == Replaces && from == i+1 {
				continue // a straight line between the rows
			}
			l := lanes[edge.Kind]
			if l == nil {
				l = &lane{kind: edge.Kind, to: i, top: i, end: i}
				lanes[edge.Kind] = l
			}
			l.from = append(l.from, from)
			l.top, l.end = min(l.top, from), max(l.end, from)
		}
		for _, kind := range []Kind{Replaces, Skips, SkipRange} {
			if l := lanes[kind]; l != nil {
				p.lanes = append(p.lanes, *l)
			}
		}
	}
	p.columns = pack(p.lanes)
	if p.columns > maxLanes {
		p.unseen = true
		p.lanes = slices.DeleteFunc(p.lanes, func(l lane) bool { return l.kind == SkipRange })
		p.columns = pack(p.lanes)
	}
}

// pack gives lanes that meet columns of their own, the short ones nearest to
// the rows, and returns how many columns there are.
func pack(lanes []lane) int {
	order := make([]*lane, len(lanes))
	for i := range lanes {
		order[i] = &lanes[i]
	}
	slices.SortStableFunc(order, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.top, b.top), cmp.Compare(a.end, b.end))
	})
	var ends []int // of the last lane in each column
	for _, l := range order {
		l.column = slices.IndexFunc(ends, func(end int) bool { return end < l.top })
		if l.column < 0 {
			if l.column = len(ends); l.column < 2*maxLanes {
				ends = append(ends, 0)
			} else {
				l.column-- // the rest share the last one
			}
		}
		ends[l.column] = max(ends[l.column], l.end)
	}
	return len(ends)
}

// note is what is said behind a name.
func (e *EntryPicture) note(head bool) string {
	note := ""
	add := func(text string) {
		if note != "" {
			note += ", "
		}
		note += text
	}
	if v, ok := versionInName(e.Name); e.Version != "" && (!ok || v.String() != e.Version) {
		add(e.Version)
	}
	if head {
		add("head")
	}
	if e.SkippedBy != "" {
		add("skipped by " + show(e.SkippedBy))
	}
	if e.Deprecated {
		add("deprecated")
	}
	if e.NoBundle {
		add("no bundle")
	}
	if e.SkipRange != "" {
		add("skipRange " + show(e.SkipRange))
	}
	return note
}

func (p *panel) width() float64 {
	title := float64(len([]rune(show(p.channel.Name)))+12) * charWidth * 1.2
	return max(p.textX()-p.x+float64(p.names+p.notes+4)*charWidth, title, 160)
}

func (p *panel) height() float64 { return titleSpace + float64(len(p.rows))*rowHeight + 10 }

// dotX is the middle of the dots of the rows, and textX where names begin.
func (p *panel) dotX() float64  { return p.x + 16 + float64(p.columns+1)*laneWidth }
func (p *panel) textX() float64 { return p.dotX() + 14 }

func (p *panel) rowY(i int) float64 { return p.y + titleSpace + float64(i)*rowHeight + rowHeight/2 }

// laneX is where a lane runs, left of the dots.
func (p *panel) laneX(l lane) float64 { return p.dotX() - float64(l.column+1)*laneWidth - 4 }

// arrange places panels beside each other, in as many lines as they need, and
// returns the right and the lower end.
func arrange(panels []*panel, y float64) (right, bottom float64) {
	x, tallest := float64(panelSpace), 0.0
	for _, p := range panels {
		if p.x = x; x > panelSpace && x+p.width() > sheetWidth {
			x, y, tallest = panelSpace, y+tallest+panelSpace, 0
		}
		p.x, p.y = x, y
		x += p.width() + panelSpace
		right = max(right, x)
		tallest = max(tallest, p.height())
	}
	return right, y + tallest
}
