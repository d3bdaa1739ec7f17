package yamljson

import (
	"bytes"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// AppendYAML appends a JSON value as a YAML document in block style, with a
// line break at the end and keys in the order they are written. Append turns
// it into the same JSON again. The value must be JSON that rawjson.Check has
// accepted.
func AppendYAML(dst, value []byte) []byte {
	e := emitter{in: rawjson.NewCursor(value), out: dst}
	e.value(0)
	return append(e.out, '\n')
}

// emitter writes values so that the last line is left open.
type emitter struct {
	in    rawjson.Cursor
	out   []byte
	plain []byte // the text of a string, reused
}

// value writes a value whose nested lines have the given indentation, and the
// first one too if it is not at the beginning of its line.
func (e *emitter) value(indent int) {
	switch e.in.Peek() {
	case '{', '[':
		if end, empty := e.open(); empty {
			e.in.Skip()
			e.out = append(e.out, end-2, end)
		} else {
			e.nested(end, indent)
		}
	default:
		e.scalar(indent)
	}
}

// open moves into an object or list; end is the byte that it ends with.
func (e *emitter) open() (end byte, empty bool) {
	end = e.in.Peek() + 2 // in ASCII, from { to } and from [ to ]
	e.in.Skip()
	next := e.in.Peek()
	return end, next == end || next == 0
}

// nested writes the members or elements of what was opened and is not empty.
func (e *emitter) nested(end byte, indent int) {
	for first := true; ; first = false {
		if !first {
			e.newLine(indent)
		}
		if end == '}' {
			// Write a key and its colon. Long ones need a "?" in front.
			const long = 150 // bytes; escaped, each has at most six characters, and about 1,000 are allowed
			e.in.Peek()
			key := e.text()
			if len(key) > long {
				e.out = append(e.out, "? "...)
				e.quoted(key)
				e.newLine(indent)
			} else if isKey(key) {
				e.out = append(e.out, key...)
			} else {
				e.quoted(key)
			}
			e.out = append(e.out, ':')
			e.in.Peek()
			e.in.Skip()
			e.member(indent)
		} else {
			e.out = append(e.out, "- "...)
			e.value(indent + 2)
		}
		if e.in.Peek() != ',' {
			break
		}
		e.in.Skip()
	}
	e.in.Skip()
}

// member writes the value after a key: nested lists begin right below it.
func (e *emitter) member(indent int) {
	switch e.in.Peek() {
	case '{', '[':
		end, empty := e.open()
		if empty {
			e.in.Skip()
			e.out = append(e.out, ' ', end-2, end)
			return
		}
		if end == '}' {
			indent += 2
		}
		e.newLine(indent)
		e.nested(end, indent)
	default:
		e.out = append(e.out, ' ')
		e.scalar(indent + 2)
	}
}

func (e *emitter) scalar(indent int) {
	if e.in.Peek() == '"' {
		e.string(e.text(), indent)
		return
	}
	e.out = append(e.out, e.in.Scalar()...)
}

// text is that of the string that comes next, until the next call.
func (e *emitter) text() []byte {
	written := e.in.String()
	if bytes.IndexByte(written, '\\') < 0 && len(written) > 1 {
		return written[1 : len(written)-1]
	}
	e.plain = rawjson.AppendUnquoted(e.plain[:0], written)
	return e.plain
}

func (e *emitter) newLine(indent int) {
	e.out = append(e.out, '\n')
	for range indent {
		e.out = append(e.out, ' ')
	}
}
