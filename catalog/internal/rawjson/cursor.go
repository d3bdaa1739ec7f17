package rawjson

import (
	"bytes"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Cursor moves over a text token by token, for those who rewrite it in one
// pass. It trusts that Check has accepted the text; on any other it still ends.
type Cursor struct {
	text []byte
	pos  int
}

// NewCursor begins at the start of text.
func NewCursor(text []byte) Cursor { return Cursor{text: text} }

// Peek is the first byte of the next token, 0 at the end.
func (c *Cursor) Peek() byte {
	c.pos = space(c.text, c.pos)
	return at(c.text, c.pos)
}

// Skip moves over one byte: a bracket, comma or colon that Peek has seen.
func (c *Cursor) Skip() { c.pos = min(c.pos+1, len(c.text)) }

// String moves over a string that Peek has seen the begin of, and returns it
// as it is written, with its quotes.
func (c *Cursor) String() []byte {
	start := c.pos
	c.pos = min(skipString(c.text, c.pos), len(c.text))
	return c.text[start:c.pos]
}

// Scalar moves over a number or word, and returns it.
func (c *Cursor) Scalar() []byte {
	start := c.pos
	c.pos = min(max(skip(c.text, c.pos), c.pos+1), len(c.text))
	return c.text[start:c.pos]
}

// Value moves over a value of any kind, and returns it.
func (c *Cursor) Value() []byte {
	c.Peek()
	return c.Scalar()
}

// Members moves over an object that Peek has seen the begin of, and hands out
// its keys and values. It must not be left early.
func (c *Cursor) Members() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for c.Skip(); c.Peek() == '"'; {
			key := String(c.String())
			c.Peek()
			c.Skip()
			if !yield(key, c.Value()) {
				return
			}
			if c.Peek() == ',' {
				c.Skip()
			}
		}
		c.Skip()
	}
}

// Elements moves over a list that Peek has seen the begin of. It stops at each
// element, which the caller must move over.
func (c *Cursor) Elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		c.Skip()
		for i := 0; c.Peek() != ']' && c.Peek() != 0; i++ {
			if !yield(i) {
				return
			}
			if c.Peek() == ',' {
				c.Skip()
			}
		}
		c.Skip()
	}
}

// AppendUnquoted appends the text of a string that is written with quotes.
func AppendUnquoted(dst, value []byte) []byte {
	if len(value) < 2 {
		return dst
	}
	inner := value[1 : len(value)-1]
	for len(inner) > 0 {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 || n+1 == len(inner) {
			break
		}
		dst = append(dst, inner[:n]...)
		inner = inner[n:]
		if c := unescaped[inner[1]]; c != 0 {
			dst, inner = append(dst, c), inner[2:]
			continue
		}
		var size int
		dst, size = appendUnicode(dst, inner)
		inner = inner[size:]
	}
	return append(dst, inner...)
}

// unescaped is what a byte after a backslash stands for.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// appendUnicode appends the character of the \u that text begins with, or of
// two that belong together, and returns how long that was.
func appendUnicode(dst, text []byte) ([]byte, int) {
	size := min(len(`\u0000`), len(text))
	r := codeUnit(text[:size])
	if utf16.IsSurrogate(r) {
		pair := text[size:min(2*size, len(text))]
		if r = utf16.DecodeRune(r, codeUnit(pair)); r != utf8.RuneError {
			size *= 2
		}
	}
	return utf8.AppendRune(dst, r), size
}

// codeUnit is what \u and four digits stand for.
func codeUnit(escape []byte) rune {
	if len(escape) < len(`\u0000`) || escape[0] != '\\' || escape[1] != 'u' {
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(string(escape[2:]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
