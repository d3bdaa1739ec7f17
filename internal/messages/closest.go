package messages

import "strings"

// Closest returns the name that a mistyped one may stand for: one that contains it or that it contains, else the one with the fewest mistakes;
// empty for none. Names of fewer than four characters are part of too many others, or too like them.
func Closest(wanted string, names []string) string {
	const meaningful, mistakes, longest = 4, 2, 100
	if len(wanted) < meaningful || len(wanted) > longest {
		return ""
	}
	best, least := "", mistakes+1
	for _, n := range names {
		if strings.Contains(n, wanted) || len(n) >= meaningful && strings.Contains(wanted, n) {
			return n
		}
		if d := len(n) - len(wanted); d > mistakes || d < -mistakes {
			continue
		}
		if d := distance(n, wanted); d < least && d < len(wanted)/2 {
			best, least = n, d
		}
	}
	return best
}

// DidYouMean suggests the closest of some names after a sentence that says that there is none of a name; empty for none.
func DidYouMean(wanted string, names []string) string {
	if name := Closest(wanted, names); name != "" {
		return "; did you mean " + Line(name, maxSuggestion) + "?"
	}
	return ""
}

// maxSuggestion is how much of a name is suggested, in bytes.
const maxSuggestion = 200

// distance counts the bytes that have to be changed, put in, removed, or exchanged with the next one, to make b of a.
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
