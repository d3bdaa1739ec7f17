package preview

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"fairlead.dev/fairlead/resolve"
)

// page is text for people. What outside text is printed on it, in sentences, in tables and indented, cannot leave its line, and has no
// control characters left.
type page struct{ strings.Builder }

// printf writes a sentence. Its arguments are what is from outside.
func (p *page) printf(format string, args ...any) {
	for i, arg := range args {
		switch text := arg.(type) {
		case string:
			args[i] = tidy(text)
		case fmt.Stringer:
			args[i] = tidy(text.String())
		}
	}
	fmt.Fprintf(p, format, args...)
}

// block is lines that are clean already.
type block string

func (p *page) put(b block) { p.WriteString(string(b)) }

// table aligns the columns of rows. There are always the same columns, whatever is in them; an empty cell is a dash.
func table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = tidy(cell)
			cell = row[i]
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if cell == "" {
				cell = "-"
			}
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// maxLineSize is how much is printed of a text of unknown authors.
const maxLineSize = 2 << 10

// tidy makes a text that may quote a catalog one line without control characters.
func tidy(text string) string { return resolve.Tidy(text, maxLineSize) }

// indented puts each line of a text two columns to the right; of an empty text nothing is left.
func indented[T ~string](of T) block {
	text := strings.TrimRight(string(of), "\n")
	if text == "" {
		return ""
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString("  " + tidy(line) + "\n")
	}
	return block(b.String())
}
