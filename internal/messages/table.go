package messages

import (
	"strings"
	"unicode/utf8"
)

// maxCell is how much is printed of a cell, in bytes.
const maxCell = 2 << 10

// Clean makes a text of unknown authors one line without control characters.
func Clean(text string) string { return Line(text, maxCell) }

// Short makes a text of unknown authors one line of at most so many characters. It cuts after a word where there is one.
func Short(text string, most int) string {
	characters := []rune(Clean(text))
	if len(characters) <= most {
		return string(characters)
	}
	cut := string(characters[:most-1])
	if space := strings.LastIndexByte(cut, ' '); space > most/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// Table aligns rows, the first of which are the headings. An empty cell is a dash, so that columns can be counted by programs; the last
// column is not filled up.
func Table(rows ...[]string) string {
	if len(rows) == 0 {
		return ""
	}
	widths := make([]int, len(rows[0]))
	clean := make([][]string, len(rows))
	for r, row := range rows {
		clean[r] = make([]string, len(row))
		for i, cell := range row {
			if cell = Clean(cell); cell == "" {
				cell = "-"
			}
			clean[r][i] = cell
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range clean {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Indent puts each line of a text some columns to the right.
func Indent(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", by))
		}
		b.WriteString(line)
	}
	return b.String()
}
