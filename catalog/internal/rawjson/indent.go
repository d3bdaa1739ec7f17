package rawjson

// AppendIndented appends value with each member and element on a line of its
// own, indented by so much for each level. Empty objects and lists stay
// together.
func AppendIndented(dst, value []byte, indent string) []byte {
	w := indenter{in: NewCursor(value), out: dst, indent: indent}
	w.value(0)
	return w.out
}

type indenter struct {
	in     Cursor
	out    []byte
	indent string
}

func (w *indenter) value(depth int) {
	switch w.in.Peek() {
	case '{':
		w.nested(depth, '}')
	case '[':
		w.nested(depth, ']')
	case '"':
		w.out = append(w.out, w.in.String()...)
	default:
		w.out = append(w.out, w.in.Scalar()...)
	}
}

// nested writes an object or a list, which ends with the given byte.
func (w *indenter) nested(depth int, end byte) {
	w.out = append(w.out, w.in.Peek())
	w.in.Skip()
	empty := true
	for c := w.in.Peek(); c != end && c != 0; c = w.in.Peek() {
		if c == ',' {
			w.out = append(w.out, ',')
			w.in.Skip()
		}
		empty = false
		w.newLine(depth + 1)
		if end == '}' {
			// Write a key and its colon
			w.in.Peek()
			w.out = append(append(w.out, w.in.String()...), ": "...)
			w.in.Peek()
			w.in.Skip()
		}
		w.value(depth + 1)
	}
	w.in.Skip()
	if !empty {
		w.newLine(depth)
	}
	w.out = append(w.out, end)
}

func (w *indenter) newLine(depth int) {
	w.out = append(w.out, '\n')
	for range depth {
		w.out = append(w.out, w.indent...)
	}
}
