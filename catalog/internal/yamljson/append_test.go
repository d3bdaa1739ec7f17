package yamljson

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/yaml"
)

// cases are documents and what they become. pass reports whether the single
// pass is expected to read them.
var cases = map[string]struct {
	yaml, json string
	pass       bool
}{
	"object":                           {"a: b\nc: d\n", `{"a":"b","c":"d"}`, true},
	"no line break at the end":         {"a: b", `{"a":"b"}`, true},
	"comments and blank lines":         {"# x\n\na: b\n\n# y\nc: d\n# z", `{"a":"b","c":"d"}`, true},
	"nested":                           {"a:\n  b:\n    c: d\n  e: f\ng: h\n", `{"a":{"b":{"c":"d"},"e":"f"},"g":"h"}`, true},
	"list":                             {"- a\n- b\n", `["a","b"]`, true},
	"list below its key":               {"a:\n- b\n- c\nd: e\n", `{"a":["b","c"],"d":"e"}`, true},
	"list indented":                    {"a:\n  - b\n  - c\nd: e\n", `{"a":["b","c"],"d":"e"}`, true},
	"objects in a list":                {"- a: b\n  c: d\n- e: f\n", `[{"a":"b","c":"d"},{"e":"f"}]`, true},
	"lists in a list":                  {"- - a\n  - b\n-\n  - c\n- - - d\n", `[["a","b"],["c"],[["d"]]]`, true},
	"missing values":                   {"a:\nb:\n- \n-\n- c:\n", `{"a":null,"b":[null,null,{"c":null}]}`, true},
	"empty object and list":            {"a: {}\nb: []\n", `{"a":{},"b":[]}`, true},
	"quoted keys":                      {"\"a b\": c\n'd': e\n", `{"a b":"c","d":"e"}`, true},
	"keys are text":                    {"1: a\ntrue: b\ny: c\nnull: d\n", `{"1":"a","true":"b","y":"c","null":"d"}`, true},
	"booleans":                         {"- true\n- False\n- yes\n- off\n- y\n- \"yes\"\n- oN\n", `[true,false,true,false,true,"yes","oN"]`, true},
	"nulls":                            {"- null\n- ~\n- Null\n- 'null'\n", `[null,null,null,"null"]`, true},
	"integers":                         {"- 1\n- -7\n- 0\n- 0777\n- 0x1F\n- 0o17\n- 1_000\n- +3\n- 18446744073709551615\n", `[1,-7,0,511,31,15,1000,3,18446744073709551615]`, true},
	"floats":                           {"- 1.50\n- 1.\n- .5\n- 1e3\n- -0.0\n- 4.19\n", `[1.50,1,0.5,1e3,-0.0,4.19]`, true},
	"numbers no machine can hold":      {"- 1e999\n- 123456789012345678901234567890.5\n- -0\n", `[1e999,123456789012345678901234567890.5,-0]`, true},
	"nearly numbers":                   {"- 1.2.3\n- 10m\n- 0x\n- 2001-01-01\n- -a\n- 1:20\n- 08\n", `["1.2.3","10m","0x","2001-01-01","-a","1:20",8]`, true},
	"plain over lines":                 {"a: b\n  c\n\n  d\n\n\n  e\nf: g\n", `{"a":"b c\nd\n\ne","f":"g"}`, true},
	"plain with marks inside":          {"a: b:c #d\n", `{"a":"b:c"}`, false},
	"plain with colons":                {"a: http://x.y/#z\n", `{"a":"http://x.y/#z"}`, true},
	"single quoted":                    {"a: 'it''s'\nb: ''\nc: 'x\n  y\n\n  z'\n", `{"a":"it's","b":"","c":"x y\nz"}`, true},
	"double quoted":                    {`a: "x\n\"\\\t\u00e9\x41 "` + "\nb: \"\"\n", `{"a":"x\n\"\\\té` + `A ","b":""}`, true},
	"double quoted over lines":         {"a: \"x  \n  y\\\n  \\ z\n\n  w\"\n", `{"a":"x y z\nw"}`, true},
	"literal":                          {"a: |\n  x\n   y\n\n  z\nb: |-\n  x\nc: |+\n  x\n\nd: e\n", `{"a":"x\n y\n\nz\n","b":"x","c":"x\n\n","d":"e"}`, true},
	"literal with indentation":         {"a: |2\n    x\n  y\nb: |1-\n  z\n", `{"a":"  x\ny\n","b":" z"}`, true},
	"literal at the end":               {"a:\n- b: |\n    x", `{"a":[{"b":"x"}]}`, true},
	"literal with tab":                 {"a: |\n  x\ty\n  \tz\n", `{"a":"x\ty\n\tz\n"}`, true},
	"folded":                           {"a: >-\n  x\n  y\n", `{"a":"x y"}`, false},
	"flow":                             {"a: {b: [c, 1], \"d\": e}\n", `{"a":{"b":["c",1],"d":"e"}}`, false},
	"JSON":                             {`{"a": [1, 2.5, "x\u0041"]}`, `{"a":[1,2.5,"xA"]}`, false},
	"anchors":                          {"a: &x\n  b: c\nd: *x\ne: &y f\n*y : g\n", `{"a":{"b":"c"},"d":{"b":"c"},"e":"f","f":"g"}`, false},
	"merge keys":                       {"a: &x {b: 1, c: 2}\nd: &y {c: 3, e: 4}\nf:\n  <<: [*x, *y]\n  b: 0\n", `{"a":{"b":1,"c":2},"d":{"c":3,"e":4},"f":{"b":0,"c":2,"e":4}}`, false},
	"tags":                             {"- !!str 1\n- !!int \"2\"\n- !!binary aGk=\n", `["1",2,"hi"]`, false},
	"tags of one's own":                {"- !secret x\n- !secret 1\n- !!what 'y'\n- !list [1]\n- !object {a: 1}\n", `["x","1","y",[1],{"a":1}]`, false},
	"binary that is no text":           {"a: !!binary /w==\n", `{"a":"` + "\ufffd" + `"}`, false},
	"scalars beside the margin":        {"a: !!str\nb: !!null\n", `{"a":"","b":null}`, false},
	"line breaks of Windows":           {"a: b\r\nc: |\r\n  d\r\n", `{"a":"b","c":"d\n"}`, false},
	"first mark":                       {"---\na: b\n", `{"a":"b"}`, false},
	"only a comment":                   {"# nothing\n", `null`, false},
	"empty":                            {"", `null`, false},
	"scalar":                           {"hello\n", `"hello"`, false},
	"key twice":                        {"a: 1\na: 2\n", `{"a":1,"a":2}`, true},
	"beyond ASCII":                     {"a: ü€😀\n", `{"a":"ü€😀"}`, true},
	"comment beside a value":           {"a: b # c\nd: 'e' # f\ng: {} # h\n", `{"a":"b","d":"e","g":{}}`, false},
	"comment between lines":            {"a:\n  b\n# c\n", `{"a":"b"}`, false},
	"tab in double quotes":             {"a: \"x\ty\"\n", `{"a":"x\ty"}`, false},
	"tab in single quotes":             {"a: 'x\ty'\n", `{"a":"x\ty"}`, false},
	"quotes at the margin":             {"a: \"b\nc\"\nd: 'e\nf'\n", `{"a":"b c","d":"e f"}`, false},
	"rare escapes":                     {`a: "\_\e\U0001F600"` + "\n", `{"a":"` + "\u00a0" + `\u001b😀"}`, false},
	"escapes before a break":           {"a: \"b\\n \n  c\"\n", `{"a":"b\n c"}`, false},
	"blank literal":                    {"a: |\n\n\nb: c\n", `{"a":"","b":"c"}`, false},
	"literal after longer blank line":  {"a: |2-\n      \n  b\n", `{"a":"    \nb"}`, true},
	"literal that ends with spaces":    {"a: |\n  b\n ", `{"a":"b\n"}`, false},
	"value below its key":              {"a:\n  b\n", `{"a":"b"}`, false},
	"question mark":                    {"? a\n: b\n", `{"a":"b"}`, false},
	"list as a list":                   {"-\n  - a\n", `[["a"]]`, true},
	"plain with brackets and quotes":   {"a: b [c] {d} 'e' \"f\"\n  'g'\n", `{"a":"b [c] {d} 'e' \"f\" 'g'"}`, true},
	"plain that continues with a dash": {"a: b\n  - c\n", `{"a":"b - c"}`, false},
	"merge key of one alias":           {"a: &a {b: 1}\nc: {<<: *a}\n", `{"a":{"b":1},"c":{"b":1}}`, false},
	"next line character":              {"a: \"b\u0085c\"\n", `{"a":"b c"}`, false},
}

func TestAppend(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := must.Value(Append([]byte("before "), []byte(c.yaml), testLimits))(t)
			must.Equal(t, "result", string(got), "before "+c.json)
			if _, pass := appendBlocks(nil, []byte(c.yaml), testLimits.Depth); pass != c.pass {
				t.Errorf("read by the single pass: %v, want %v", pass, c.pass)
			}
		})
	}
}

// TestAppendAgreesWithKubernetes compares with the converter that Kubernetes
// uses, apart from the keys that it reads as booleans and numbers, and from
// numbers that it cannot hold.
func TestAppendAgreesWithKubernetes(t *testing.T) {
	for name, c := range cases {
		if name == "keys are text" || name == "numbers no machine can hold" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var want, got any
			must.NoError(t, yaml.Unmarshal([]byte(c.yaml), &want))
			must.NoError(t, yaml.Unmarshal([]byte(c.json), &got))
			must.Equal(t, "result", got, want)
		})
	}
}

// refused are documents that are not accepted, with the line and a part of
// the reason.
var refused = map[string]string{
	"a: b: c\n":                    "1: mapping values are not allowed",
	"a: b\n\tc: d\n":               "2: found",
	"a: [b\n":                      "1: did not find",
	"a: b\n c: d\n":                "2: mapping values are not allowed",
	"a: *x\n":                      "1: unknown anchor",
	"? [a]\n: b\n":                 "1: a key is a list or an object",
	"a: .inf\n":                    "1: .inf has no form in JSON",
	"a: !!int x\n":                 "1: cannot decode",
	"a: !!binary '*'\n":            "1: the value of a !!binary is not base64",
	"a: \"\\/\"\n":                 "1: found unknown escape character",
	"a: b\n---\nc: d\n":            "3: a second document",
	"<<: 1\n":                      "1: a merge key (<<) takes",
	"a: b\n...\nc: d\n":            "2: did not find expected <document start>",
	"a: &x [*x]\n":                 "1: lists and objects are nested too deeply",
	mergeBomb():                    "1: merge keys bring in more than",
	"a: &x\n  <<: *x\n":            "2: merge keys are nested too deeply",
	strings.Repeat("[", 51):        "",
	strings.Repeat("- ", 51) + "x": "1: lists and objects are nested too deeply",
	"a: &x b\nc: [" + strings.Repeat("*x, ", 101) + "]": "2: the document uses too many aliases",
	"x\n" + strings.Repeat("- x\n", maxNodes):           "1: the document has more than",
}

// mergeBomb merges one large object many times, to no effect.
func mergeBomb() string {
	var b strings.Builder
	b.WriteString("a: &a {")
	for i := range 20_000 {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String() + "}\nb: {<<: [" + strings.Repeat("*a, ", 90) + "]}\n"
}

func TestAppendRefuses(t *testing.T) {
	for text, want := range refused {
		t.Run(text[:min(len(text), 20)], func(t *testing.T) {
			_, err := Append(nil, []byte(text), testLimits)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v is not an *Error", err)
			}
			line, reason, ok := strings.Cut(want, ": ")
			if ok && (line != string(rune('0'+e.Line)) || !strings.Contains(e.Reason, reason)) {
				t.Errorf("error at line %d: %v; want %s", e.Line, e, want)
			}
		})
	}
}

// TestAppendBoundsAliases builds nine levels of nine aliases each: expanded,
// it would be 387 million elements.
func TestAppendBoundsAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		p, n := string(rune('0'+i)), string(rune('1'+i))
		b.WriteString("a" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+p+",", 9), ",") + "]\n")
	}
	limits := Limits{Bytes: 1 << 16, Depth: 50, Aliases: 1 << 30}
	_, err := Append(nil, []byte(b.String()), limits)
	must.Fail(t, "Append", err, "larger than the limit")
}
