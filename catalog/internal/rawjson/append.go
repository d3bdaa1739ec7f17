package rawjson

import (
	"bytes"
	"slices"
	"strings"
)

// AppendCanonical appends value without white space, with the keys of its
// objects sorted and with every string as AppendString writes it. Of equal keys
// the last one counts.
func AppendCanonical(dst, value []byte) []byte {
	dst, _ = appendValue(dst, value, space(value, 0))
	return dst
}

// appendValue appends the value that begins at i, and returns where it ends.
func appendValue(dst, text []byte, i int) ([]byte, int) {
	switch at(text, i) {
	case '{':
		return appendObject(dst, text, i)
	case '[':
		return appendList(dst, text, i)
	case '"':
		end := skipString(text, i)
		return appendText(dst, text[i:end]), end
	}
	end := skip(text, i)
	return append(dst, text[i:end]...), end
}

// appendText appends a string that is written with quotes. Most are written
// canonically already.
func appendText(dst, value []byte) []byte {
	for rest := value; ; rest = rest[2:] {
		n := bytes.IndexByte(rest, '\\')
		if n < 0 || n+1 == len(rest) {
			return append(dst, value...)
		}
		rest = rest[n:]
		switch rest[1] {
		case '"', '\\', 'n', 'r', 't':
		default:
			return AppendString(dst, AppendUnquoted(nil, value))
		}
	}
}

func appendList(dst, text []byte, i int) ([]byte, int) {
	dst = append(dst, '[')
	for i = space(text, i+1); i < len(text) && text[i] != ']'; i = space(text, i) {
		if text[i] == ',' {
			dst = append(dst, ',')
			i = space(text, i+1)
		}
		if i >= len(text) {
			break
		}
		var end int
		if dst, end = appendValue(dst, text, i); end == i {
			end++ // only in what is not JSON
		}
		i = end
	}
	return append(dst, ']'), min(i+1, len(text))
}

// span is a member of an object: its key, and where it was appended.
type span struct {
	key      string
	from, to int
}

func appendObject(dst, text []byte, i int) ([]byte, int) {
	var spans []span
	start, sorted := len(dst), true
	dst = append(dst, '{')
	for i = space(text, i+1); at(text, i) == '"'; {
		end := skipString(text, i)
		s := span{key: String(text[i:end]), from: len(dst)}
		dst = append(AppendString(dst, s.key), ':')
		i = min(space(text, space(text, end)+1), len(text))
		dst, end = appendValue(dst, text, i)
		s.to = len(dst)
		sorted = sorted && (len(spans) == 0 || spans[len(spans)-1].key < s.key)
		spans = append(spans, s)
		if i = space(text, end); at(text, i) != ',' {
			break
		}
		i = space(text, i+1)
		dst = append(dst, ',')
	}
	end := min(i+1, len(text))
	if sorted {
		return append(dst, '}'), end
	}
	// Append the members again, in order, from what was written.
	written := bytes.Clone(dst[start:])
	slices.SortStableFunc(spans, func(a, b span) int { return strings.Compare(a.key, b.key) })
	dst = append(dst[:start], '{')
	for i, s := range spans {
		if i+1 < len(spans) && spans[i+1].key == s.key {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(dst, written[s.from-start:s.to-start]...)
	}
	return append(dst, '}'), end
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Characters that mean something in
// HTML are left as they are.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}
