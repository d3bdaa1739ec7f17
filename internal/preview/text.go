package preview

import (
	"strings"
	"unicode/utf8"

	"fairlead.dev/fairlead/resolve"
)

// table aligns the columns of rows. There are always the same columns, whatever is in them; an empty cell is a dash.
func table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
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

// indented puts each line of a text two columns to the right.
func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}
