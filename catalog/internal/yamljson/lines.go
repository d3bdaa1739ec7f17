package yamljson

import (
	"bytes"
	"unicode/utf8"
)

// maxKey is the longest key that YAML allows without a "?".
const maxKey = 1000

// lines is a place in a document, which is mostly the beginning of a line, and what can be found out from there without writing anything.
type lines struct {
	text []byte
	pos  int
}

// nextLine moves to the next line that holds something and returns its
// indentation, or -1 at the end of the document.
func (l *lines) nextLine() (indent int, ok bool) {
	for l.pos < len(l.text) {
		i := l.pos + spaces(l.text[l.pos:])
		switch at(l.text, i) {
		case '\n', 0:
			l.pos = min(i+1, len(l.text))
		case '#':
			l.pos = l.lineEnd(i)
		case '\t', '%':
			return 0, false
		default:
			return i - l.pos, true
		}
	}
	return -1, true
}

// lineEnd is where the line after the one at i begins.
func (l *lines) lineEnd(i int) int {
	for i < len(l.text) && l.text[i] != '\n' {
		i++
	}
	return min(i+1, len(l.text))
}

// isDash reports whether an element of a list begins at i.
func (l *lines) isDash(i int) bool {
	c := at(l.text, i+1)
	return at(l.text, i) == '-' && (c == ' ' || c == '\n' || c == 0)
}

// keyEnd returns the end of the key at pos, quotes included, where its colon
// is; ok is false if there is no key that can be read here.
func (l *lines) keyEnd() (end int, ok bool) {
	i := l.pos
	switch q := at(l.text, i); q {
	case '"', '\'':
		n := bytes.IndexByte(l.text[i+1:], q)
		if n < 0 || bytes.ContainsAny(l.text[i+1:i+1+n], "\\\n\t") {
			return 0, false
		}
		end = i + n + 2
	default:
		for isKeyChar(at(l.text, i)) {
			i++
		}
		end = i
	}
	if end == l.pos || end-l.pos > maxKey || at(l.text, end) != ':' {
		return 0, false
	}
	if c := at(l.text, end+1); c != ' ' && c != '\n' && c != 0 {
		return 0, false
	}
	return end, true
}

// isKeyChar is true for the characters that may stand anywhere in a key.
func isKeyChar(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == '.' || c == '/' || c == '-' || c == '$'
}

// restIsBlank moves past the rest of the line if it holds only spaces.
func (l *lines) restIsBlank() bool {
	i := l.pos + spaces(l.text[l.pos:])
	if c := at(l.text, i); i < len(l.text) && c != '\n' {
		return false
	}
	l.pos = min(i+1, len(l.text))
	return true
}

// keepSpaces stops at an escape sequence that is followed by spaces and a line
// break, where folding would be hard to get right.
func (l *lines) keepSpaces() bool {
	n := spaces(l.text[l.pos:])
	return n == 0 || at(l.text, l.pos+n) != '\n'
}

// plainLine takes the rest of the line, without trailing spaces.
func (l *lines) plainLine() (line []byte, ok bool) {
	end := bytes.IndexByte(l.text[l.pos:], '\n')
	if end < 0 {
		end = len(l.text) - l.pos
	}
	line = l.text[l.pos : l.pos+end]
	for i, c := range line {
		switch c {
		case '\t':
			return nil, false
		case ':':
			if i+1 == len(line) || line[i+1] == ' ' {
				return nil, false
			}
		case '#':
			if i > 0 && line[i-1] == ' ' {
				return nil, false
			}
		}
	}
	l.pos = min(l.pos+end+1, len(l.text))
	return bytes.TrimRight(line, " "), true
}

// continuation looks for a further line of a scalar: where its text begins, or
// -1 if there is none, and how many blank lines are before it.
func (l *lines) continuation(indent int) (start, blank int) {
	for pos := l.pos; pos < len(l.text); {
		i := pos + spaces(l.text[pos:])
		if i >= len(l.text) {
			return -1, 0
		}
		if l.text[i] != '\n' {
			if i-pos <= indent {
				return -1, 0
			}
			return i, blank
		}
		blank++
		pos = i + 1
	}
	return -1, 0
}

// literalColumn is the indentation of the first line that is not blank. Blank
// lines before it must not be longer.
func (l *lines) literalColumn(indent int) (column int, ok bool) {
	longest := 0
	for pos := l.pos; pos < len(l.text); {
		n := spaces(l.text[pos:])
		if pos+n == len(l.text) {
			return 0, false
		}
		if l.text[pos+n] != '\n' {
			return n, n > indent && n >= longest && l.text[pos+n] != '\t'
		}
		longest = max(longest, n)
		pos += n + 1
	}
	return 0, false
}

// isSimpleText reports whether every character is one that YAML allows, and that
// is neither a line break other than "\n" nor a byte order mark.
func isSimpleText(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || !isSimpleRune(r) {
			return false
		}
		i += size
	}
	return true
}

func isSimpleRune(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return false
	}
	return r >= 0xa0
}

// spaces is the number of spaces that text begins with.
func spaces(text []byte) int {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}

// at is the byte at i, or 0 outside.
func at(text []byte, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}
