package yamljson

import (
	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// blocks reads a document in block style, in one pass, writing JSON as it
// goes. It reads less than YAML on purpose: tabs, comments beside values,
// anchors, aliases, tags, flow style and folded scalars are among the many
// things at which it stops, by returning false from whatever it is doing.
//
// A line's indentation is the number of its leading spaces; pos is always the
// beginning of a line, or of the part of a line that follows "- ".
type blocks struct {
	lines
	out []byte
	// folded collects the text of scalars that cannot be copied as they are.
	folded []byte
}

func appendBlocks(dst, document []byte, depth int) ([]byte, bool) {
	if !isSimpleText(document) {
		return dst, false
	}
	b := blocks{lines: lines{text: document}, out: dst}
	indent, ok := b.nextLine()
	if !ok || indent < 0 || !b.node(indent, depth) {
		return dst, false
	}
	if indent, ok = b.nextLine(); !ok || indent >= 0 {
		return dst, false
	}
	return b.out, true
}

// node reads the list or object whose first line begins at pos and has the
// given indentation.
func (b *blocks) node(indent, depth int) bool {
	if depth <= 0 {
		return false
	}
	if b.isDash(b.pos + indent) {
		return b.list(indent, depth-1)
	}
	b.pos += indent
	return b.object(indent, depth-1)
}

// list reads the elements that begin at the given indentation; pos is the
// beginning of the first one's line.
func (b *blocks) list(indent, depth int) bool {
	b.out = append(b.out, '[')
	b.pos += indent
	for {
		if !b.element(indent, depth) {
			return false
		}
		next, ok := b.nextLine()
		if !ok || next > indent {
			return false
		}
		if next < indent || !b.isDash(b.pos+indent) {
			break
		}
		b.pos += indent
		b.out = append(b.out, ',')
	}
	b.out = append(b.out, ']')
	return true
}

// element reads the element whose dash is at pos, in a list at the given
// indentation.
func (b *blocks) element(indent, depth int) bool {
	b.pos++
	gap := spaces(b.text[b.pos:])
	column := indent + 1 + gap
	switch c := at(b.text, b.pos+gap); {
	case c == '\n' || c == 0:
		return b.below(indent, depth, false)
	case b.isDash(b.pos + gap):
		if depth <= 0 {
			return false
		}
		b.pos += gap - column // so that list finds its dash at the column
		return b.list(column, depth-1)
	}
	b.pos += gap
	if _, ok := b.keyEnd(); ok {
		return depth > 0 && b.object(column, depth-1)
	}
	return b.scalar(indent)
}

// object reads the members whose keys begin at the given indentation; pos is
// the first key.
func (b *blocks) object(indent, depth int) bool {
	b.out = append(b.out, '{')
	for {
		if !b.key() || !b.member(indent, depth) {
			return false
		}
		next, ok := b.nextLine()
		if !ok || next > indent {
			return false
		}
		if next < indent {
			break
		}
		b.pos += indent
		b.out = append(b.out, ',')
	}
	b.out = append(b.out, '}')
	return true
}

// member reads the value after a key and its colon.
func (b *blocks) member(indent, depth int) bool {
	b.out = append(b.out, ':')
	gap := spaces(b.text[b.pos:])
	if c := at(b.text, b.pos+gap); c == '\n' || c == 0 {
		return b.below(indent, depth, true)
	}
	b.pos += gap
	return b.scalar(indent)
}

// below reads a value that begins on a later line than its key or dash, or is
// missing. The dashes of a list may stand right below the key.
func (b *blocks) below(indent, depth int, key bool) bool {
	b.pos = b.lineEnd(b.pos)
	next, ok := b.nextLine()
	if !ok {
		return false
	}
	if next > indent || key && next == indent && b.isDash(b.pos+next) {
		return b.node(next, depth)
	}
	b.out = append(b.out, "null"...)
	return true
}

// key reads the key at pos and its colon.
func (b *blocks) key() bool {
	end, ok := b.keyEnd()
	if !ok || b.isDash(b.pos) {
		return false
	}
	text := b.text[b.pos:end]
	if text[0] == '"' || text[0] == '\'' {
		text = text[1 : len(text)-1]
	}
	b.out = rawjson.AppendString(b.out, string(text))
	b.pos = end + 1
	return true
}
