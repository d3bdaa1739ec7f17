package rawjson

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Kind names the type of a value for people: "object", "list", "string",
// "number", "boolean", "null".
func Kind(value []byte) string {
	switch at(value, space(value, 0)) {
	case '{':
		return "object"
	case '[':
		return "list"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// Members hands out the keys and values of an object in the order they are
// written, none if the text is not an object.
func Members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		i := space(object, 0)
		if at(object, i) != '{' {
			return
		}
		for i = space(object, i+1); at(object, i) == '"'; i = space(object, i+1) {
			end := skip(object, i)
			key := object[i:end]
			i = min(space(object, space(object, end)+1), len(object))
			end = skip(object, i)
			if !yield(String(key), object[i:end]) {
				return
			}
			i = space(object, end)
		}
	}
}

// Elements hands out the elements of a list, none if the text is not a list.
func Elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := space(list, 0)
		if at(list, i) != '[' {
			return
		}
		for i = space(list, i+1); i < len(list) && list[i] != ']'; i = space(list, i+1) {
			end := skip(list, i)
			if !yield(list[i:end]) {
				return
			}
			i = space(list, end)
		}
	}
}

// Count is the number of elements of a list or members of an object, counted
// up to limit+1.
func Count(value []byte, limit int) int {
	n := 0
	for range Elements(value) {
		if n++; n > limit {
			return n
		}
	}
	for range Members(value) {
		if n++; n > limit {
			return n
		}
	}
	return n
}

// String is the text of a string, empty if the value is not one.
func String(value []byte) string {
	value = bytes.TrimSpace(value)
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// skip returns where the value that starts at i ends.
func skip(text []byte, i int) int {
	switch at(text, i) {
	case '"':
		return skipString(text, i)
	case '{', '[':
		for depth := 0; i < len(text); i++ {
			switch text[i] {
			case '"':
				i = skipString(text, i) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return i
	}
	for i < len(text) {
		switch text[i] {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return i
		}
		i++
	}
	return i
}

func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		i += n
		backslashes := 0
		for text[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i + 1
		}
	}
	return len(text)
}
