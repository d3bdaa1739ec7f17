package yamljson

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// isKey reports whether a key needs no quotes.
func isKey(key []byte) bool {
	if len(key) == 0 || !isPlainStart(key[0]) || isWord(key) {
		return false
	}
	for _, c := range key {
		if !isKeyChar(c) {
			return false
		}
	}
	return true
}

// isWord reports whether text means something else than itself to Kubernetes.
func isWord(text []byte) bool {
	if len(text) > len("false") {
		return false
	}
	_, ok := words[string(text)]
	return ok
}

func isPlainStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '/' || c == '$'
}

// string writes a string in the plainest way that keeps it one.
func (e *emitter) string(s []byte, indent int) {
	simple := isSimpleText(s)
	switch {
	case simple && isPlain(s):
		e.out = append(e.out, s...)
	case simple && len(s) > 0 && s[0] != ' ' && s[0] != '\t' && s[0] != '\n' && bytes.IndexByte(s, '\n') > 0:
		body := bytes.TrimRight(s, "\n")
		e.out = append(e.out, '|')
		switch len(s) - len(body) {
		case 0:
			e.out = append(e.out, '-')
		case 1:
		default:
			e.out = append(e.out, '+')
		}
		for line := range bytes.SplitSeq(bytes.TrimSuffix(s, []byte("\n")), []byte("\n")) {
			if len(line) == 0 {
				e.out = append(e.out, '\n')
			} else {
				e.newLine(max(indent, 2))
				e.out = append(e.out, line...)
			}
		} // a document that is one string has no indentation
	default:
		e.quoted(s)
	}
}

// isPlain reports whether simple text needs no quotes.
func isPlain(s []byte) bool {
	if isWord(s) || !isPlainStart(s[0]) && !(s[0] >= '0' && s[0] <= '9' && bytes.Count(s, []byte(".")) > 1 && !bytes.ContainsAny(s, ":_ ")) {
		return false
	}
	if last := s[len(s)-1]; last == ' ' || last == ':' {
		return false
	}
	return bytes.IndexByte(s, '\n') < 0 && bytes.IndexByte(s, '\t') < 0 &&
		!bytes.Contains(s, []byte(": ")) && !bytes.Contains(s, []byte(" #"))
}

// quoted writes a string in double quotes.
func (e *emitter) quoted(s []byte) {
	if isSimpleText(s) {
		e.out = rawjson.AppendString(e.out, s)
		return
	}
	e.out = append(e.out, '"')
	for len(s) > 0 {
		r, size := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && size == 1:
			e.out = append(e.out, "\ufffd"...)
		case isSimpleRune(r) || r < 0x7f:
			from := len(e.out)
			e.out = rawjson.AppendString(e.out, s[:size])
			e.out = append(e.out[:from], e.out[from+1:len(e.out)-1]...)
		default:
			e.out = fmt.Appendf(e.out, "\\u%04x", r) // none of them has more digits
		}
		s = s[size:]
	}
	e.out = append(e.out, '"')
}
