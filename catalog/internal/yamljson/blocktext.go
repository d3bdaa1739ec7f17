package yamljson

import "unicode/utf8"

// isSimpleText tells whether every character is one that YAML allows, and that
// is neither a line break other than "\n" nor a byte order mark.
func isSimpleText(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || !isSimpleRune(r) {
			return false
		}
		i += size
	}
	return true
}

func isSimpleRune(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return false
	}
	return r >= 0xa0
}

// spaces is the number of spaces that text begins with.
func spaces(text []byte) int {
	n := 0
	for n < len(text) && text[n] == ' ' {
		n++
	}
	return n
}

// at is the byte at i, or 0 outside.
func at(text []byte, i int) byte {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}
