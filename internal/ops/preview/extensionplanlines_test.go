package preview

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestLinesOfAChange: whatever differs can be seen.
func TestLinesOfAChange(t *testing.T) {
	long := strings.Repeat("x", 500)
	for name, test := range map[string]struct {
		before, after string // as YAML, in a field
		want          string
	}{
		"a number and a string":          {"1", "'1'", `.a: 1 -> "1"`},
		"a string and a number":          {"'1.5'", "1.5", `.a: "1.5" -> 1.5`},
		"a truth and a string":           {"true", "'true'", `.a: true -> "true"`},
		"a text and nothing in it":       {"x", "''", `.a: x -> ""`},
		"null as a string":               {"x", "'null'", `.a: x -> "null"`},
		"nothing and a text of it":       {"", "(none)", `.a: (none) -> "(none)"`},
		"spaces around it":               {"x", "' x'", `.a: x -> " x"`},
		"quotes around it":               {"'1'", "'\"1\"'", `.a: "1" -> "\"1\""`},
		"text with a colon":              {"'a: b'", "http://x", `.a: a: b -> http://x`},
		"a control character":            {`x`, `"y\e[31m"`, `.a: x -> y [31m`},
		"only a control character":       {`"x y"`, `"x\ty"`, `.a: "x y" -> "x\ty"`},
		"a number and a list":            {"1", "[1]", ".a:\n  - 1\n  + - 1"},
		"lines like a heading":           {`"one\n-- two\n"`, `"one\n++ three\n"`, ".a:\n    one\n  - -- two\n  + ++ three"},
		"lines like the beginning of it": {`"-- a\n@@ b\n"`, `"c\n"`, ".a:\n  - -- a\n  - @@ b\n  + c"},
		"the last newline goes":          {`"one\ntwo\n"`, `"one\ntwo"`, ".a:\n    one\n  - two\n  + two\n  \\ no newline at the end"},
		"the last newline comes":         {`"one"`, `"one\n"`, ".a:\n  - one\n  \\ no newline at the end\n  + one"},
		"none has a last newline":        {`"one\ntwo"`, `"one\nthree"`, ".a:\n    one\n  - two\n  + three"},
		"an empty line more":             {`"one\n"`, `"one\n\n"`, ".a:\n    one\n  +"},
		"another order of texts":         {"[a, b, c, d]", "[a, c, b, d]", ".a: the same 4 items in another order of items 2 to 3: [b, c] -> [c, b]"},
		"another order of all":           {"[1, '1']", "['1', 1]", `.a: the same 2 items in another order: [1, "1"] -> ["1", 1]`},
		"another order of objects":       {"[{x: 1}, {x: 2}]", "[{x: 2}, {x: 1}]", `.a: the same 2 items in another order: [{"x":1}, {"x":2}] -> [{"x":2}, {"x":1}]`},
		"another order of names":         {"[{name: x}, {name: z}]", "[{name: z}, {name: x}]", `.a: the same 2 items in another order: [x, z] -> [z, x]`},
		"another order, and more":        {"[{name: x}, {name: z}]", "[{name: z}, {name: w}, {name: x}]", ".a: the same 2 items in another order: [x, z] -> [z, x]\n.a[name=w]:\n  + name: w"},
		"one item twice":                 {"[a, b, a]", "[a, b, b]", ".a:\n    - a\n    - b\n  - - a\n  + - b"},
		"far apart":                      {`"a\nb\nc\nd\ne\nf\ng\nh\ni\nj"`, `"A\nb\nc\nd\ne\nf\ng\nh\ni\nJ"`, ".a:\n  - a\n  + A\n    b\n    c\n    d\n  …\n    g\n    h\n    i\n  - j\n  + J"},
		"the end of a long line":         {long + "1", long + "2", ".a:\n  - …" + long[:40] + "1\n  + …" + long[:40] + "2"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, c := range changes("", any(must.Parse[map[string]any](t, "a: "+test.before)), any(must.Parse[map[string]any](t, "a: "+test.after))) {
				got = append(got, c.lines()...)
			}
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ") // as writeValues does
			}
			must.Equal(t, "lines", strings.Join(got, "\n"), test.want)
		})
	}
	many := FieldChange{Path: ".a", Before: strings.Repeat("a\n", 100), After: strings.Repeat("b\n", 100)}.lines()
	must.Equal(t, "lines of a long value", len(many), maxValueLines+2)
	must.Contain(t, "the last one", many[len(many)-1], "more lines")
	hidden := FieldChange{Path: ".a", Before: notShown, After: notShown}
	must.Equal(t, "what is hidden", hidden.lines()[0], ".a: (not shown) -> (not shown)")
}
