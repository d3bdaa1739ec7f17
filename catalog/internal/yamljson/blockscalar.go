package yamljson

import (
	"bytes"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// scalar reads the scalar at pos, whose key or dash has the given indentation:
// its further lines are indented more.
func (b *blocks) scalar(indent int) bool {
	switch c := b.text[b.pos]; c {
	case '"':
		// Read a scalar in double quotes.
		b.pos++
		b.folded = b.folded[:0]
		for b.pos < len(b.text) {
			switch c := b.text[b.pos]; c {
			case '"':
				b.pos++
				return b.finishQuoted()
			case '\\':
				if !b.escape(indent) {
					return false
				}
			case '\n':
				if !b.foldQuoted(indent) {
					return false
				}
			case '\t':
				return false
			default:
				b.copyUntil("\"\\\n\t")
			}
		}
		return false
	case '\'':
		// Read a scalar in single quotes.
		b.pos++
		b.folded = b.folded[:0]
		for b.pos < len(b.text) {
			switch c := b.text[b.pos]; c {
			case '\'':
				if at(b.text, b.pos+1) != '\'' {
					b.pos++
					return b.finishQuoted()
				}
				b.folded = append(b.folded, '\'')
				b.pos += 2
			case '\n':
				if !b.foldQuoted(indent) {
					return false
				}
			case '\t':
				return false
			default:
				b.copyUntil("'\n\t")
			}
		}
		return false
	case '|':
		return b.literal(indent)
	case '{', '[':
		// Read "{}" and "[]"
		text := string(b.text[b.pos:min(b.pos+2, len(b.text))])
		if text != "{}" && text != "[]" {
			return false
		}
		b.out = append(b.out, text...)
		b.pos += 2
		return b.restIsBlank()
	case '-':
		if next := at(b.text, b.pos+1); next <= ' ' {
			return false
		}
		return b.plain(indent)
	case '&', '*', '!', '>', '%', '@', '`', '?', ':', ',', ']', '}', '#', '\t':
		return false
	}
	return b.plain(indent)
}

// plain reads a scalar without quotes.
func (b *blocks) plain(indent int) bool {
	first, ok := b.plainLine()
	if !ok {
		return false
	}
	if next, _ := b.continuation(indent); next < 0 {
		out, err := appendPlain(b.out, string(first))
		if err != nil {
			return false
		}
		b.out = out
		return true
	}
	b.folded = append(b.folded[:0], first...)
	for {
		next, blank := b.continuation(indent)
		if next < 0 {
			break
		}
		b.pos = next
		if c := b.text[next]; c == '#' || c == '\t' || b.isDash(next) || c == '?' || c == ':' {
			return false
		}
		line, ok := b.plainLine()
		if !ok {
			return false
		}
		b.fold(blank)
		b.folded = append(b.folded, line...)
	}
	b.out = rawjson.AppendString(b.out, string(b.folded))
	return true
}

// fold joins two lines of a scalar that have blank lines between them.
func (b *blocks) fold(blank int) {
	if blank == 0 {
		b.folded = append(b.folded, ' ')
	}
	for range blank {
		b.folded = append(b.folded, '\n')
	}
}

// literal reads a "|" scalar, whose lines are kept as they are.
func (b *blocks) literal(indent int) bool {
	b.pos++
	keep, explicit := byte(0), 0
	for {
		switch c := at(b.text, b.pos); {
		case (c == '-' || c == '+') && keep == 0:
			keep = c
		case '1' <= c && c <= '9' && explicit == 0:
			explicit = int(c - '0')
		default:
			return b.restIsBlank() && b.literalLines(indent, explicit, keep)
		}
		b.pos++
	}
}

func (b *blocks) literalLines(indent, explicit int, keep byte) bool {
	column := indent + explicit
	if explicit == 0 {
		var ok bool
		if column, ok = b.literalColumn(indent); !ok {
			return false
		}
	}
	b.folded = b.folded[:0]
	for b.pos < len(b.text) {
		n := spaces(b.text[b.pos:])
		end := b.lineEnd(b.pos)
		blank := at(b.text, b.pos+n) == '\n'
		if n < column && !blank {
			if b.pos+n == len(b.text) || b.text[b.pos+n] == '\t' {
				return false
			}
			break
		}
		if n >= column {
			b.folded = append(b.folded, b.text[b.pos+column:end]...)
		} else {
			b.folded = append(b.folded, '\n')
		}
		b.pos = end
	}
	// Of the line breaks at the end "-" keeps none, "+" all, and otherwise one is kept.
	text, trimmed := b.folded, bytes.TrimRight(b.folded, "\n")
	switch {
	case keep == '+':
	case keep == '-' || len(trimmed) == len(text) || len(trimmed) == 0:
		text = trimmed
	default:
		text = text[:len(trimmed)+1]
	}
	b.out = rawjson.AppendString(b.out, string(text))
	return true
}
