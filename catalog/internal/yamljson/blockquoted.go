package yamljson

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

func (b *blocks) finishQuoted() bool {
	b.out = rawjson.AppendString(b.out, string(b.folded))
	return b.restIsBlank()
}

// copyUntil copies text up to one of the characters in stop, but not the
// spaces before a line break.
func (b *blocks) copyUntil(stop string) {
	n := bytes.IndexAny(b.text[b.pos:], stop)
	if n < 0 {
		n = len(b.text) - b.pos
	}
	part := b.text[b.pos : b.pos+n]
	b.pos += n
	if at(b.text, b.pos) == '\n' {
		part = bytes.TrimRight(part, " ")
	}
	b.folded = append(b.folded, part...)
}

// foldQuoted moves from the line break at pos to the next text of the scalar.
func (b *blocks) foldQuoted(indent int) bool {
	b.pos++
	start, blank := b.continuation(indent)
	if start < 0 {
		return false
	}
	b.pos = start
	b.fold(blank)
	return true
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', ' ': ' '}

// escape reads the escape sequence at pos.
func (b *blocks) escape(indent int) bool {
	c := at(b.text, b.pos+1)
	if plain, ok := escapes[c]; ok {
		b.folded = append(b.folded, plain)
		b.pos += 2
		return b.keepSpaces()
	}
	switch c {
	case '\n':
		b.pos += 2
		start, blank := b.continuation(indent)
		if start < 0 || blank > 0 {
			return false
		}
		b.pos = start
		return true
	case 'x':
		return b.escapedRune(2) && b.keepSpaces()
	case 'u':
		return b.escapedRune(4) && b.keepSpaces()
	}
	return false
}

func (b *blocks) escapedRune(digits int) bool {
	from, to := b.pos+2, b.pos+2+digits
	if to > len(b.text) {
		return false
	}
	r, err := strconv.ParseUint(string(b.text[from:to]), 16, 32)
	if err != nil || !utf8.ValidRune(rune(r)) {
		return false
	}
	b.folded = utf8.AppendRune(b.folded, rune(r))
	b.pos = to
	return true
}
