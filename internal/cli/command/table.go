package command

import (
	"regexp"
	"strings"
)

// table is one that is being written: where its columns begin, and what is above them.
type table struct {
	headings []string
	at       []int // where the columns begin in the text
	shown    []int // where they are shown, which differs in ASCII
	begun    bool  // the headings have been shown
}

var (
	// headings are those of a table: words in capitals, two spaces or more between them.
	headings = regexp.MustCompile(`^\s*[A-Z][A-Z0-9 ]*?(?:  +[A-Z][A-Z0-9 ]*?)+$`)
	// aHeading is one of them.
	aHeading = regexp.MustCompile(`[A-Z][A-Z0-9]*(?: [A-Z0-9]+)*`)
	// between cells of a row are two spaces or more.
	between = regexp.MustCompile(` {2,}`)
)

// newTable is the table that a line of headings begins.
func newTable(line string) table {
	var t table
	for _, at := range aHeading.FindAllStringIndex(line, -1) {
		t.headings, t.at = append(t.headings, line[at[0]:at[1]]), append(t.at, at[0])
	}
	t.shown = append(t.shown, t.at...)
	return t
}

// has reports whether a line is a row: a column ends before the second one begins, or there are as many cells as columns.
func (t table) has(line string) bool {
	if len(t.headings) == 0 || strings.TrimSpace(line) == "" {
		return false
	}
	before, _ := split(line, t.at[1])
	return strings.HasSuffix(before, "  ") || len(between.Split(strings.TrimSpace(line), -1)) == len(t.headings)
}

// cells are those of a row, by what is between them, and else by where the columns begin.
func (t table) cells(line string) []string {
	if row := between.Split(strings.TrimSpace(line), -1); len(row) == len(t.headings) {
		return row
	}
	var row []string
	for i, at := range t.at {
		_, cell := split(line, at)
		if i+1 < len(t.at) {
			cell, _ = split(cell, t.at[i+1]-at)
		}
		row = append(row, strings.TrimSpace(cell))
	}
	return row
}

// split cuts a line before a column of the terminal.
func split(line string, column int) (before, after string) {
	at := 0
	for i, r := range line {
		if at >= column {
			return line[:i], line[i:]
		}
		at += cells(string(r))
	}
	return line, ""
}

// rows shows rows of the table, the first of which are its headings where it begins. Columns are as wide as what is shown in them.
func (s *styled) rows(b *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	t := &s.table
	rows := make([][]string, len(lines))
	for r, line := range lines {
		rows[r] = t.cells(line)
		for i, cell := range rows[r] {
			if i+1 == len(rows[r]) {
				continue
			}
			if more := t.shown[i] + cells(s.text(cell)) + 2 - t.shown[i+1]; more > 0 {
				for j := i + 1; j < len(t.shown); j++ {
					t.shown[j] += more
				}
			}
		}
	}
	begins := !t.begun
	t.begun = true
	wide := s.width > 0 && t.shown[len(t.shown)-1] > s.width-narrowest
	for r, row := range rows {
		switch {
		case wide && (r > 0 || !begins):
			s.block(b, row)
		case !wide && r == 0 && begins:
			b.WriteString(s.paint(bold, s.row(row)) + "\n")
		case !wide:
			b.WriteString(s.row(row) + "\n")
		}
	}
}

// row is a row whose last cell is folded.
func (s *styled) row(row []string) string {
	line := strings.Repeat(" ", s.table.shown[0])
	last := len(row) - 1
	for i, cell := range row[:last] {
		line += s.marked(cell, s.text(cell)) + strings.Repeat(" ", max(s.table.shown[i+1]-s.table.shown[i]-cells(s.text(cell)), 2))
	}
	hanging := strings.Repeat(" ", s.table.shown[last])
	for i, part := range s.folded(s.text(row[last]), s.width-len(hanging)) {
		if i > 0 {
			line += "\n" + hanging + part
			continue
		}
		line += s.marked(row[last], part)
	}
	return strings.TrimRight(line, " ")
}

// identity are the headings of what names an object, in the order in which tables have them.
var identity = []string{"KIND", "NAMESPACE", "NAME"}

// title is what a block begins with, and how many cells of the row it is made of: its first, or those that name an object, as KIND NAMESPACE/NAME.
func (t table) title(row []string) (string, int) {
	n := 0
	for _, heading := range identity {
		if n < len(row) && t.headings[n] == heading {
			n++
		}
	}
	if n == 0 {
		return row[0], 1
	}
	title, join := "", ""
	for i, cell := range row[:n] {
		if cell == "" || cell == "-" {
			continue
		}
		title += join + cell
		if join = " "; t.headings[i] == "NAMESPACE" {
			join = "/"
		}
	}
	return title, n
}

// block is a row of a table that is too wide: a line for each cell that has something.
func (s *styled) block(b *strings.Builder, row []string) {
	indent := strings.Repeat(" ", s.table.shown[0])
	title, n := s.table.title(row)
	b.WriteString(indent + s.paint(bold, s.text(title)) + "\n")
	named := 0
	for _, h := range s.table.headings[n:] {
		named = max(named, len(h))
	}
	for i := n; i < len(row); i++ {
		cell := row[i]
		if cell == "" || cell == "-" {
			continue
		}
		name := indent + "  " + s.table.headings[i] + strings.Repeat(" ", named-len(s.table.headings[i])+2)
		for j, part := range s.folded(s.text(cell), s.width-len(name)) {
			if j == 0 {
				b.WriteString(s.paint(dim, name) + s.marked(cell, part) + "\n")
				continue
			}
			b.WriteString(strings.Repeat(" ", len(name)) + part + "\n")
		}
	}
}

// folded is a text in lines of so many columns; as it is where nothing is folded.
func (s *styled) folded(text string, columns int) []string {
	if s.width == 0 {
		return []string{text}
	}
	return fold(text, columns, columns)
}

// marked paints the mark that a cell begins with, in what is shown of the cell.
func (s *styled) marked(cell, shown string) string {
	for mark, color := range ofMark {
		if strings.HasPrefix(cell, mark) {
			if rest, ok := strings.CutPrefix(shown, s.text(mark)); ok {
				return s.paint(color, s.text(mark)) + rest
			}
		}
	}
	return shown
}
