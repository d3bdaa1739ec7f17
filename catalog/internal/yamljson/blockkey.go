package yamljson

import (
	"bytes"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// maxKey is the longest key that YAML allows without a "?".
const maxKey = 1000

// keyEnd returns the end of the key at pos, quotes included, and where its
// colon is; ok is false if there is no key that can be read here.
func (b *blocks) keyEnd() (end, colon int, ok bool) {
	i := b.pos
	switch q := at(b.text, i); q {
	case '"', '\'':
		n := bytes.IndexByte(b.text[i+1:], q)
		if n < 0 || bytes.ContainsAny(b.text[i+1:i+1+n], "\\\n\t") {
			return 0, 0, false
		}
		end = i + n + 2
	default:
		for isKeyChar(at(b.text, i)) {
			i++
		}
		end = i
	}
	if end == b.pos || end-b.pos > maxKey || at(b.text, end) != ':' {
		return 0, 0, false
	}
	if c := at(b.text, end+1); c != ' ' && c != '\n' && c != 0 {
		return 0, 0, false
	}
	return end, end, true
}

// isKeyChar is true for the characters that may stand anywhere in a key.
func isKeyChar(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return c == '_' || c == '.' || c == '/' || c == '-' || c == '$'
}

func (b *blocks) startsKey() bool {
	_, _, ok := b.keyEnd()
	return ok
}

// key reads the key at pos and its colon.
func (b *blocks) key() bool {
	end, colon, ok := b.keyEnd()
	if !ok || b.isDash(b.pos) {
		return false
	}
	text := b.text[b.pos:end]
	if text[0] == '"' || text[0] == '\'' {
		text = text[1 : len(text)-1]
	}
	b.out = rawjson.AppendString(b.out, string(text))
	b.pos = colon + 1
	return true
}
