package indexignore

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// glob is the pattern of one name of a path: a sequence of tokens.
type glob []token

// token stands for any text, or for one character out of a set.
type token struct {
	star   bool // any text, the empty one included
	not    bool // one character that is not in the set
	ranges []span
}

// span is the characters from lo to hi.
type span struct{ lo, hi rune }

var anyCharacter = token{not: true}

// classes are the sets that a bracket can name as [:name:].
var classes = map[string][]span{
	"alnum":  {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
	"alpha":  {{'A', 'Z'}, {'a', 'z'}},
	"blank":  {{' ', ' '}, {'\t', '\t'}},
	"cntrl":  {{0, 0x1f}, {0x7f, 0x7f}},
	"digit":  {{'0', '9'}},
	"graph":  {{0x21, 0x7e}},
	"lower":  {{'a', 'z'}},
	"print":  {{0x20, 0x7e}},
	"punct":  {{0x21, 0x2f}, {0x3a, 0x40}, {0x5b, 0x60}, {0x7b, 0x7e}},
	"space":  {{'\t', '\r'}, {' ', ' '}},
	"upper":  {{'A', 'Z'}},
	"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
}

// parseGlob reads a pattern; ok is false if a bracket is not closed, a class
// is unknown, or nothing follows a backslash.
func parseGlob(text string) (g glob, ok bool) {
	for text != "" {
		var t token
		switch r, size := utf8.DecodeRuneInString(text); r {
		case '*':
			t, text, ok = token{star: true}, strings.TrimLeft(text, "*"), true
		case '?':
			t, text, ok = anyCharacter, text[size:], true
		case '[':
			t, text, ok = parseBracket(text[size:])
		default:
			t.ranges = make([]span, 1)
			t.ranges[0].lo, text, ok = character(text)
			t.ranges[0].hi = t.ranges[0].lo
		}
		if !ok {
			return nil, false
		}
		g = append(g, t)
	}
	return g, true
}

// parseBracket reads a set after its opening bracket. A closing bracket that
// comes first belongs to the set.
func parseBracket(text string) (t token, rest string, ok bool) {
	if t.not = text != "" && strings.Contains("!^", text[:1]); t.not {
		text = text[1:]
	}
	for first := true; ; first = false {
		if !first && strings.HasPrefix(text, "]") {
			return t, text[1:], true
		}
		if named, ok := strings.CutPrefix(text, "[:"); ok {
			inner, after, closed := strings.Cut(named, "]")
			if name, ok := strings.CutSuffix(inner, ":"); ok && closed {
				class, known := classes[name]
				if !known {
					return t, text, false
				}
				t.ranges, text = append(t.ranges, class...), after
				continue
			}
		}
		var s span
		if s.lo, text, ok = character(text); !ok {
			return t, text, false
		}
		s.hi = s.lo
		if strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "-]") {
			if s.hi, text, ok = character(text[1:]); !ok {
				return t, text, false
			}
		}
		t.ranges = append(t.ranges, s)
	}
}

// character reads one character, which a backslash may stand in front of.
func character(text string) (r rune, rest string, ok bool) {
	text = strings.TrimPrefix(text, `\`)
	r, size := utf8.DecodeRuneInString(text)
	return r, text[size:], size > 0
}

func (t token) matches(r rune) bool {
	in := slices.ContainsFunc(t.ranges, func(s span) bool { return s.lo <= r && r <= s.hi })
	return in != t.not
}

// match reports whether the whole name matches. After a failure it continues with
// the last star taking one character more: earlier ones need not be tried
// again, so that the cost is bounded by the product of both lengths.
func (g glob) match(name string) bool {
	star, taken := -1, ""
	i, rest := 0, name
	for i < len(g) || rest != "" {
		if i < len(g) && g[i].star {
			star, taken = i, rest
			i++
			continue
		}
		if r, size := utf8.DecodeRuneInString(rest); size > 0 && i < len(g) && g[i].matches(r) {
			i, rest = i+1, rest[size:]
			continue
		}
		if star < 0 || taken == "" {
			return false
		}
		_, size := utf8.DecodeRuneInString(taken)
		taken = taken[size:]
		i, rest = star+1, taken
	}
	return true
}
