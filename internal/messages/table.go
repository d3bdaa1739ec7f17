package messages

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// maxCell is how much is printed of a cell, in bytes.
const maxCell = 2 << 10

// Clean makes a text of unknown authors one line without control characters.
func Clean(text string) string { return Line(text, maxCell) }

// Short makes a text of unknown authors one line of at most so many columns of a terminal. It cuts after a word where there is one.
func Short(text string, most int) string {
	text = Clean(text)
	if Cells(text) <= most {
		return text
	}
	cut := text
	for width, rest := 0, text; rest != ""; {
		_, size := utf8.DecodeRuneInString(rest)
		if width += Cells(rest[:size]); width >= most {
			cut = text[:len(text)-len(rest)]
			break
		}
		rest = rest[size:]
	}
	if space := strings.LastIndexByte(cut, ' '); space > most/2 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

// Cells is how many columns of a terminal a text takes: two for a wide character, as of East Asian scripts and emoji, none for one that joins another.
func Cells(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
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
			widths[i] = max(widths[i], Cells(cell))
		}
	}
	var b strings.Builder
	for _, row := range clean {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-Cells(cell)+2)
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
