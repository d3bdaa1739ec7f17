package command

import (
	"io"
	"regexp"
	"strings"
)

// styled shows text in a style, line by line.
type styled struct {
	out io.Writer
	style
	within bool  // a line has begun in an earlier write
	table  table // that is being written; without headings where none is
}

// erased ends what takes a line away, after which another one begins.
const erased = "\x1b[K"

// Write shows lines. The beginning of one, such as a question, goes out at once, and what continues it is not folded.
func (s *styled) Write(p []byte) (int, error) {
	var b strings.Builder
	var rows []string // of the table that is being written, its headings first
	for line := range strings.Lines(string(p)) {
		content, ended := strings.CutSuffix(line, "\n")
		begun := s.within
		s.within = !ended && !strings.HasSuffix(line, erased)
		switch {
		case !begun && ended && s.table.has(content):
			rows = append(rows, content)
			continue
		case !begun && ended && headings.MatchString(content):
			s.rows(&b, rows)
			rows, s.table = []string{content}, newTable(content)
			continue
		}
		s.rows(&b, rows)
		rows = nil
		if begun || !ended {
			b.WriteString(s.text(line))
			continue
		}
		s.table = table{}
		s.line(&b, content)
	}
	s.rows(&b, rows)
	if _, err := io.WriteString(s.out, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// inASCII writes what commands draw with in ASCII. Marks are unlike anything that a text begins with.
var inASCII = strings.NewReplacer("✓", "[ok]", "✗", "[!!]", "·", "[--]", "…", "...", "├── ", "|-- ", "└── ", "`-- ", "│", "|", "●", "*", "○", "o",
	"→", "->", "–", "-", "—", "-", "“", `"`, "”", `"`, "‘", "'", "’", "'")

// text is a text in the characters of the style. It is the last thing that is done, since it changes how wide a text is, and what it could be taken for.
func (s style) text(text string) string {
	if s.ascii {
		return inASCII.Replace(text)
	}
	return text
}

var (
	// parts of a line: the time and the branches before the mark, the mark, and the text. Lists and differences have signs, which are no marks.
	parts = regexp.MustCompile(`^(\s*(?:[0-9]+\.[0-9]{2}s )?)((?:│   |    )*(?:├── |└── )?)([✓✗·] |[-+→] )?(.*)$`)
	// keyed begins a text that stands beside others in a column: "because    ...".
	keyed = regexp.MustCompile(`^[A-Za-z][A-Za-z-]*(?: [A-Za-z-]+)*:? {2,}`)
	// pasted lines are commands that people copy.
	pasted = regexp.MustCompile(`^(?:\s+(?:fairlead|kubectl|opm|helm)|\s*(?:export|source|go)) `)
	// marked are words that begin a line on the error stream.
	marked = regexp.MustCompile(`^(fairlead:|opm:|warning:|note:) `)
)

// ofMark is the colour of a mark, which a space follows.
var ofMark = map[string]string{"✓ ": green, "✗ ": red, "· ": dim}

// The colours, as numbers of ECMA-48.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// longestTitle is how many columns the title of a section has at most; a longer line that ends with a colon is a sentence.
const longestTitle = 30

// paint is a text in a colour.
func (s *styled) paint(color, text string) string {
	if !s.color || color == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// line shows one line, on several where it is too long.
func (s *styled) line(b *strings.Builder, line string) {
	m := parts.FindStringSubmatch(line)
	before, branch, mark, text := m[1], m[2], m[3], m[4]
	color, textColor := ofMark[mark], ""
	if mark == "✗ " && before+branch == "" {
		textColor = bold
	}
	if before+branch+mark == "" {
		if word := marked.FindString(text); word != "" {
			mark, text, color = word, text[len(word):], map[string]string{"note: ": dim, "warning: ": yellow}[word]
			if color == "" {
				color = red
			}
		} else if strings.HasSuffix(text, ":") && cells(text) < longestTitle || strings.HasPrefix(text, "Namespace ") || text == "Cluster" {
			textColor = bold
		}
	}
	hanging := s.text(continued(before + branch))
	branch, mark, text = s.text(branch), s.text(mark), s.text(text)
	switch {
	case branch == "" && mark == "", marked.MatchString(mark):
		hanging += "  " // so that another line differs from what is continued
	default:
		hanging += strings.Repeat(" ", cells(mark))
	}
	key := keyed.FindString(text)
	if begin := cells(before + branch + mark + key); key != "" && before+mark != "" && s.width-begin >= narrowest {
		text = text[len(key):]
		hanging = s.text(continued(before+branch)) + strings.Repeat(" ", cells(mark+key))
	} else {
		key = ""
	}
	lines := []string{text}
	if s.width > 0 && !pasted.MatchString(line) {
		lines = fold(text, s.width-cells(before+branch+mark+key), s.width-cells(hanging))
	}
	for i, part := range lines {
		if i > 0 {
			b.WriteString(s.paint(dim, hanging) + s.paint(textColor, part) + "\n")
			continue
		}
		b.WriteString(s.paint(dim, before+branch) + s.paint(color, mark) + s.paint(textColor, key+part) + "\n")
	}
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
