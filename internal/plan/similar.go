package plan

import (
	"fmt"
	"slices"
	"strings"
)

// similar suggests a name that contains the wanted one or that the wanted one contains, else the one that is least mistyped.
func similar(wanted string, names []string) string {
	const meaningful, mistakes, longest = 4, 2, 100 // shorter names are part of too many others, or too like them
	if len(wanted) < meaningful || len(wanted) > longest {
		return ""
	}
	best, least := "", mistakes+1
	for _, n := range names {
		if strings.Contains(n, wanted) || len(n) >= meaningful && strings.Contains(wanted, n) {
			return ", among them " + n
		}
		if d := len(n) - len(wanted); d > mistakes || d < -mistakes {
			continue
		}
		if d := distance(n, wanted); d < least && d < len(wanted)/2 {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return ", among them " + best
}

// distance counts the bytes that have to be changed, put in, taken out, or exchanged with the next one, to make b of a.
func distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// startingVersions says with what a Subscription could start in the channels that it follows, and which other one has what it wants.
func (r *request) startingVersions() (there, elsewhere string) {
	const shown = 3
	var names []string
	for _, c := range r.channels {
		for _, e := range c.Entries {
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	there = "it has none that can be used"
	if len(names) > 0 {
		there = "it has " + strings.Join(names[:min(shown, len(names))], ", ")
		if more := len(names) - shown; more > 0 {
			there += fmt.Sprintf(" and %d more", more)
		}
	}
	p, ok := r.source.Index.Package(r.sub.Package)
	if !ok {
		return there, ""
	}
	for _, c := range p.Channels {
		if _, has := c.Entry(r.sub.StartingCSV); has {
			return there + "; channel " + c.Name + " has " + r.sub.StartingCSV, fmt.Sprintf("; or let it follow channel %s, which has %s", c.Name, r.sub.StartingCSV)
		}
	}
	return there, ""
}
