package catalogserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
)

// fields are the values of a JSON object, each as JSON. The values are as large as descriptions of operators are, so they are checked as
// little as can be.
type fields map[string]json.RawMessage

// errFields says that a text is no object. What is inside of values is not judged.
var errFields = errors.New("it is not a JSON object")

// split takes an object apart, in one pass.
func split(object json.RawMessage) (fields, error) {
	f := fields{}
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(object), []byte("{"))
	for rest = bytes.TrimSpace(rest); ok && len(rest) > 0 && rest[0] != '}'; rest = bytes.TrimSpace(rest) {
		var key string
		end := stringEnd(rest)
		if end < 0 || json.Unmarshal(rest[:end], &key) != nil {
			return nil, errFields
		}
		if rest, ok = bytes.CutPrefix(bytes.TrimSpace(rest[end:]), []byte(":")); !ok {
			return nil, errFields
		}
		if end = valueEnd(rest); end < 0 {
			return nil, errFields
		}
		f[key] = bytes.TrimSpace(rest[:end])
		rest = bytes.TrimPrefix(rest[end:], []byte(","))
	}
	if len(rest) != 1 {
		return nil, errFields
	}
	return f, nil
}

// stringEnd is the end of the string that a text begins with, -1 if there is none.
func stringEnd(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return -1
	}
	for at := 1; ; {
		n := bytes.IndexByte(text[at:], '"')
		if n < 0 {
			return -1
		}
		escapes := 0
		for text[at+n-1-escapes] == '\\' {
			escapes++
		}
		if at += n + 1; escapes%2 == 0 {
			return at
		}
	}
}

// valueEnd is where the value that a text begins with ends: before a comma or brace that is not inside of it; -1 if there is none.
func valueEnd(text []byte) int {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"':
			n := stringEnd(text[at:])
			if n < 0 {
				return -1
			}
			at += n - 1
		case '{', '[':
			depth++
		case ',', '}', ']':
			if depth == 0 {
				return at
			}
			if text[at] != ',' {
				depth--
			}
		}
	}
	return -1
}

// set encodes a value that is small.
func (f fields) set(key string, value any) error {
	text, err := encode(value)
	f[key] = json.RawMessage(text)
	return err
}

// text writes the object, sorted by key.
func (f fields) text() json.RawMessage {
	text := []byte{'{'}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = strconv.AppendQuote(text, key) // keys are words
		text = append(text, ':')
		text = append(text, f[key]...)
	}
	return append(text, '}')
}
