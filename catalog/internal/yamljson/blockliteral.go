package yamljson

import (
	"bytes"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

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
	b.out = rawjson.AppendString(b.out, string(chomp(b.folded, keep)))
	return true
}

// chomp treats the line breaks at the end: "-" keeps none, "+" all, and
// otherwise one is kept.
func chomp(text []byte, keep byte) []byte {
	if keep == '+' {
		return text
	}
	trimmed := bytes.TrimRight(text, "\n")
	if keep == '-' || len(trimmed) == len(text) || len(trimmed) == 0 {
		return trimmed
	}
	return text[:len(trimmed)+1]
}
