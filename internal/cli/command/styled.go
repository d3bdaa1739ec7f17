package command

import (
	"io"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// styled shows text in a style, line by line.
type styled struct {
	out io.Writer
	style
	within bool      // a line has begun in an earlier write
	table  []heading // of the table that is being written; none where none is
}

// heading is that of a column of a table, and where it begins.
type heading struct {
	text string
	at   int
}

// erased ends what takes a line away, after which another one begins.
const erased = "\x1b[K"

// Write shows lines. The beginning of one, such as a question, goes out at once, and what continues it is not folded.
func (s *styled) Write(p []byte) (int, error) {
	text := string(p)
	if s.ascii {
		text = inASCII.Replace(text)
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch ended := strings.HasSuffix(line, "\n"); {
		case s.within || !ended:
			b.WriteString(line)
			s.within = !ended && !strings.HasSuffix(line, erased)
		default:
			s.line(&b, strings.TrimSuffix(line, "\n"))
		}
	}
	if _, err := io.WriteString(s.out, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// inASCII writes what commands draw with in ASCII.
var inASCII = strings.NewReplacer("✓", "+", "✗", "x", "·", "-", "…", "...", "├── ", "|-- ", "└── ", "`-- ", "│", "|", "→", "->", "–", "-", "—", "-", "“", `"`, "”", `"`, "‘", "'", "’", "'")

var (
	// parts of a line: the time and the branches before the mark, the mark, and the text.
	parts = regexp.MustCompile("^(\\s*(?:[0-9]+\\.[0-9]{2}s )?)((?:│   |\\|   |    )*(?:├── |└── |\\|-- |`-- )?)((?:[✓✗·] )|(?:[-+x] ))?(.*)$")
	// headings are those of a table: words in capitals, two spaces or more between them.
	headings = regexp.MustCompile(`^\s*[A-Z][A-Z0-9 ]*?(?:  +[A-Z][A-Z0-9 ]*?)+$`)
	// aHeading is one of them.
	aHeading = regexp.MustCompile(`[A-Z][A-Z0-9]*(?: [A-Z0-9]+)*`)
	// pasted lines are commands that people copy.
	pasted = regexp.MustCompile(`^\s*(?:fairlead|kubectl|opm|helm|export|source|go) `)
	// marked are words that begin a line on the error stream.
	marked = regexp.MustCompile(`^(fairlead:|opm:|warning:|note:) `)
)

// The colours, as numbers of ECMA-48.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// paint is a text in a colour.
func (s *styled) paint(color, text string) string {
	if !s.color || color == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// line shows one line, on several where it is too long.
func (s *styled) line(b *strings.Builder, line string) {
	switch {
	case headings.MatchString(line):
		s.table = nil
		for _, at := range aHeading.FindAllStringIndex(line, -1) {
			s.table = append(s.table, heading{line[at[0]:at[1]], at[0]})
		}
		if !s.tooWide() {
			b.WriteString(s.paint(bold, line) + "\n")
		}
		return
	case line == "" || !s.inTable(line):
		s.table = nil
	}
	if len(s.table) > 0 {
		s.row(b, line)
		return
	}
	m := parts.FindStringSubmatch(line)
	before, branch, mark, text := m[1], m[2], m[3], m[4]
	color, textColor := "", ""
	switch strings.TrimSpace(mark) {
	case "✓", "+":
		color = green
	case "✗", "x":
		if color = red; before+branch == "" {
			textColor = bold
		}
	case "·":
		color = dim
	}
	if before+branch+mark == "" {
		if word := marked.FindString(text); word != "" {
			mark, text, color = word, text[len(word):], map[string]string{"note: ": dim, "warning: ": yellow}[word]
			if color == "" {
				color = red
			}
		} else if strings.HasSuffix(text, ":") && cells(text) < narrowest || strings.HasPrefix(text, "Namespace ") || text == "Cluster" {
			textColor = bold
		}
	}
	lines := []string{text}
	hanging := continued(before+branch) + strings.Repeat(" ", cells(mark))
	if marked.MatchString(mark) || before+branch+mark == "" {
		hanging = "  "
	}
	if s.width > 0 && !pasted.MatchString(text) {
		lines = fold(text, s.width-cells(before+branch+mark), s.width-cells(hanging))
	}
	for i, part := range lines {
		if i > 0 {
			b.WriteString(s.paint(dim, hanging) + s.paint(textColor, part) + "\n")
			continue
		}
		b.WriteString(s.paint(dim, before+branch) + s.paint(color, mark) + s.paint(textColor, part) + "\n")
	}
}

// inTable reports whether a line is a row of the table that is being written: a column ends before the last one begins.
func (s *styled) inTable(line string) bool {
	if len(s.table) == 0 {
		return false
	}
	before, _ := split(line, s.table[1].at)
	return strings.HasSuffix(before, "  ")
}

// tooWide reports whether the last column of the table has no room: each row is a block of lines then.
func (s *styled) tooWide() bool {
	return s.width > 0 && s.table[len(s.table)-1].at > s.width-narrowest
}

// split cuts a line before a column of the terminal.
func split(line string, column int) (before, after string) {
	at := 0
	for i, r := range line {
		if at >= column {
			return line[:i], line[i:]
		}
		at += cellsOf(r)
	}
	return line, ""
}

// row shows a row of a table: its last column is folded. Of a table that is too wide each row is a block, with a line for each cell that says something.
func (s *styled) row(b *strings.Builder, line string) {
	last := s.table[len(s.table)-1]
	if !s.tooWide() {
		before, text := split(line, last.at)
		for i, part := range s.folded(text, s.width-last.at) {
			if i > 0 {
				before = strings.Repeat(" ", last.at)
			}
			b.WriteString(before + s.marked(part) + "\n")
		}
		return
	}
	named := 0
	for _, h := range s.table {
		named = max(named, len(h.text))
	}
	for i, h := range s.table {
		_, cell := split(line, h.at)
		if i+1 < len(s.table) {
			cell, _ = split(cell, s.table[i+1].at-h.at)
		}
		switch cell = strings.TrimSpace(cell); {
		case i == 0:
			b.WriteString(s.paint(bold, cell) + "\n")
		case cell != "" && cell != "-":
			name := "  " + h.text + strings.Repeat(" ", named-len(h.text)+2)
			for _, part := range s.folded(cell, s.width-len(name)) {
				b.WriteString(s.paint(dim, name) + s.marked(part) + "\n")
				name = strings.Repeat(" ", len(name))
			}
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

// marked paints the mark that a cell begins with.
func (s *styled) marked(cell string) string {
	for mark, color := range map[string]string{"✓ ": green, "✗ ": red} {
		if rest, ok := strings.CutPrefix(cell, mark); ok {
			return s.paint(color, mark) + rest
		}
	}
	return cell
}

// continued is what stands below branches of a tree.
func continued(branch string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '├':
			return '│'
		case '│', '|':
			return r
		}
		return ' '
	}, branch)
}

// fold cuts a text between words, so that the first line has at most so many columns, and the others have. A word that is longer stays whole.
func fold(text string, first, others int) []string {
	if cells(text) <= first {
		return []string{text}
	}
	var lines []string
	line, room := "", first
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line = word
		case cells(line)+1+cells(word) > room && strings.TrimSpace(line) != "":
			lines = append(lines, line)
			line, room = word, others
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// cells is how many columns of a terminal a text takes.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
