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
		return b.doubleQuoted(indent)
	case '\'':
		return b.singleQuoted(indent)
	case '|':
		return b.literal(indent)
	case '{', '[':
		return b.emptyFlow()
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

// emptyFlow reads "{}" and "[]".
func (b *blocks) emptyFlow() bool {
	text := string(b.text[b.pos:min(b.pos+2, len(b.text))])
	if text != "{}" && text != "[]" {
		return false
	}
	b.out = append(b.out, text...)
	b.pos += 2
	return b.restIsBlank()
}

// restIsBlank moves past the rest of the line if it holds only spaces.
func (b *blocks) restIsBlank() bool {
	i := b.pos + spaces(b.text[b.pos:])
	if c := at(b.text, i); i < len(b.text) && c != '\n' {
		return false
	}
	b.pos = min(i+1, len(b.text))
	return true
}

// plain reads a scalar without quotes.
func (b *blocks) plain(indent int) bool {
	first, ok := b.plainLine()
	if !ok {
		return false
	}
	if next, _ := b.continuation(indent); next < 0 {
		return b.appendPlainText(string(first))
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

func (b *blocks) appendPlainText(text string) bool {
	out, err := appendPlain(b.out, text)
	if err != nil {
		return false
	}
	b.out = out
	return true
}

// plainLine takes the rest of the line, without trailing spaces.
func (b *blocks) plainLine() (line []byte, ok bool) {
	end := bytes.IndexByte(b.text[b.pos:], '\n')
	if end < 0 {
		end = len(b.text) - b.pos
	}
	line = b.text[b.pos : b.pos+end]
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
	b.pos = min(b.pos+end+1, len(b.text))
	return bytes.TrimRight(line, " "), true
}

// continuation looks for a further line of a scalar: where its text begins, or
// -1 if there is none, and how many blank lines are before it.
func (b *blocks) continuation(indent int) (start, blank int) {
	for pos := b.pos; pos < len(b.text); {
		i := pos + spaces(b.text[pos:])
		if i >= len(b.text) {
			return -1, 0
		}
		if b.text[i] != '\n' {
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

// fold joins two lines of a scalar that have blank lines between them.
func (b *blocks) fold(blank int) {
	if blank == 0 {
		b.folded = append(b.folded, ' ')
	}
	for range blank {
		b.folded = append(b.folded, '\n')
	}
}
