package docstream

import "bytes"

// isJSON reports whether chunk begins with "{" and then a key or "}", white
// space aside.
func (r *Reader) isJSON() bool {
	content := bytes.TrimLeft(r.chunk, " \t\r\n")
	if content[0] != '{' {
		return false
	}
	rest := bytes.TrimLeft(content[1:], " \t\r\n")
	if len(rest) == 0 {
		r.chunk = bytes.Clone(r.chunk) // Peek may move what it points at
		ahead, _ := r.in.Peek(512)
		rest = bytes.TrimLeft(ahead, " \t\r\n")
	}
	return len(rest) > 0 && (rest[0] == '"' || rest[0] == '}')
}

// readJSON passes text to take until the closing bracket of the object.
func (r *Reader) readJSON(take func([]byte)) error {
	r.use(len(r.chunk) - len(bytes.TrimLeft(r.chunk, " \t\r\n")))
	var s scanner
	for {
		end := s.scan(r.chunk)
		take(r.chunk[:end])
		if s.depth == 0 && s.begun {
			r.use(end)
			return nil
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
}

// use drops the first n bytes of chunk.
func (r *Reader) use(n int) {
	r.chunk = r.chunk[n:]
	r.start = false
}

// scanner finds the end of a JSON object in text that comes in pieces.
type scanner struct {
	depth    int
	begun    bool
	inString bool
	escaped  bool
}

// scan returns the index after the closing bracket, or len(text) if the
// object continues.
func (s *scanner) scan(text []byte) int {
	for i := 0; i < len(text); {
		if s.inString {
			i = s.scanString(text, i)
			continue
		}
		switch text[i] {
		case '"':
			s.inString = true
		case '{', '[':
			s.begun = true
			s.depth++
		case '}', ']':
			if s.depth--; s.depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}

// scanString returns the index after the closing quote of the string that i
// is in, or len(text) if the string continues.
func (s *scanner) scanString(text []byte, i int) int {
	if s.escaped {
		s.escaped = false
		i++
	}
	for from := i; ; {
		n := bytes.IndexByte(text[i:], '"')
		end := i + n
		if n < 0 {
			end = len(text)
		}
		backslashes := 0
		for end-backslashes > from && text[end-backslashes-1] == '\\' {
			backslashes++
		}
		escaped := backslashes%2 == 1
		switch {
		case n < 0:
			s.escaped = escaped
			return len(text)
		case !escaped:
			s.inString = false
			return end + 1
		}
		i = end + 1
		from = i
	}
}
