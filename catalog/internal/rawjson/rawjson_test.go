package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead.dev/fairlead/test/must"
)

const testDepth = 20

// values are JSON texts and their canonical form.
var values = map[string]string{
	"null":                              "null",
	" true ":                            "true",
	"[ ]":                               "[]",
	"{\n}":                              "{}",
	"-0.50e+10":                         "-0.50e+10",
	"12345678901234567890":              "12345678901234567890",
	`"a b"`:                             `"a b"`,
	`"\u0041\"\\\/\b\f\n\r\t"`:          `"A\"\\/\u0008\u000c\n\r\t"`,
	`"\ud83d\ude00 \ud83d\ud83d\ude00"`: "\"\U0001f600 \ufffd\U0001f600\"",
	`"\\"`:                              `"\\"`,
	`[1, "a]" ,[ ], {"b": "}"}]`:        `[1,"a]",[],{"b":"}"}]`,
	`{"b": 1, "a": {"d": 2, "c": 3}}`:   `{"a":{"c":3,"d":2},"b":1}`,
	`{"a": 1, "b": 2, "a": [3]}`:        `{"a":[3],"b":2}`,
	`{"\u0062": 1, "a\n": "<&>"}`:       `{"a\n":"<&>","b":1}`,
	`{"": {"": {"": ""}}}`:              `{"":{"":{"":""}}}`,
	"\t{\"a\" : [ 1 , 2 ] }\r\n":        `{"a":[1,2]}`,
}

// broken are texts that are not JSON, with the offset at which that shows.
var broken = map[string]int{
	"": 0, "  ": 2, "x": 0, "tru": 0, "nul": 0, "[": 1, "[1": 2, "[1,": 3, "[1,]": 3, "[1 2]": 3, "]": 0,
	"{": 1, `{"a"`: 4, `{"a":`: 5, `{"a":1`: 6, `{"a":1,`: 7, `{"a":1,}`: 7, `{a:1}`: 1, `{"a" 1}`: 5, `{'a':1}`: 1, "{1:2}": 1,
	`"`: 1, `"a`: 2, "\"a\nb\"": 2, "\"\x01\"": 1, `"\x"`: 2, `"\u12"`: 2, `"\`: 2,
	"01": 0, "-": 0, "1.": 0, ".5": 0, "1e": 0, "1e+": 0, "+1": 0, "1 2": 2, "{} x": 3, "NaN": 0,
	strings.Repeat("[", testDepth+1): testDepth, strings.Repeat(`{"a":`, testDepth+1): 5 * testDepth,
}

func TestCheckAccepts(t *testing.T) {
	for text := range values {
		if err := Check([]byte(text), testDepth); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	deep := strings.Repeat("[", testDepth) + strings.Repeat("]", testDepth)
	if err := Check([]byte(deep), testDepth); err != nil {
		t.Errorf("%d levels: %v", testDepth, err)
	}
}

func TestCheckRefuses(t *testing.T) {
	for text, offset := range broken {
		err := Check([]byte(text), testDepth)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: error %v, want a *SyntaxError", text, err)
			continue
		}
		if syntax.Offset != offset || syntax.Reason == "" {
			t.Errorf("%q: %q at %d, want it at %d", text, syntax.Reason, syntax.Offset, offset)
		}
	}
}

func TestAppendCanonical(t *testing.T) {
	for text, want := range values {
		if got := AppendCanonical([]byte("before"), []byte(text)); string(got) != "before"+want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if again := AppendCanonical(nil, []byte(want)); string(again) != want {
			t.Errorf("%s is not stable: %s", want, again)
		}
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		" {}": "object", "[1]": "list", `"a"`: "string", "true": "boolean", "false": "boolean", "null": "null", "-1": "number", "0": "number",
	} {
		must.Equal(t, text+": Kind([]byte(text))", Kind([]byte(text)), want)
	}
}

func TestMembersAndElements(t *testing.T) {
	var got []string
	for key, value := range Members([]byte(` {"a\"b" : {"c": [1, "}"]}, "d":"e\\" , "f":null}`)) {
		got = append(got, fmt.Sprintf("%s=%s", key, value))
	}
	must.Equal(t, "members", got, []string{`a"b={"c": [1, "}"]}`, `d="e\\"`, "f=null"})
	got = nil
	for value := range Elements([]byte(` [1 ,[2, "]"],"\"",{} , -3.5e7]`)) {
		got = append(got, string(value))
	}
	must.Equal(t, "elements", got, []string{"1", `[2, "]"]`, `"\""`, "{}", "-3.5e7"})
	for range Members([]byte(`{"a":1,"b":2}`)) {
		break
	}
	for range Elements([]byte(`[1,2]`)) {
		break
	}
	must.Equal(t, "Count", Count([]byte(`[1,2,3]`), 10), 3)
	must.Equal(t, "Count", Count([]byte(`{"a":1,"b":2}`), 10), 2)
	must.Equal(t, "Count", Count([]byte(`[1,2,3,4]`), 2), 3)
	must.Equal(t, "Count", Count([]byte(`"abc"`), 2), 0)
}

func TestString(t *testing.T) {
	for text, want := range map[string]string{` "a" `: "a", `"\u00e9\n"`: "é\n", "1": "", `"\ud800"`: "\ufffd", `""`: "",
		`"\ud83d}ude00"`: "\ufffd}ude00", `"\ud83d\ude00"`: "\U0001f600"} {
		must.Equal(t, text+": String([]byte(text))", String([]byte(text)), want)
	}
}

// FuzzCheck compares with encoding/json, and demands that the functions that
// trust their input are at least safe with any.
func FuzzCheck(f *testing.F) {
	for text := range values {
		f.Add([]byte(text))
	}
	for text := range broken {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		valid := Check(text, 1000) == nil
		if want := json.Valid(text); valid != want && !(bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 1000) {
			t.Fatalf("%q: valid %v, want %v", text, valid, want)
		}
		canonical := AppendCanonical(nil, text)
		indented := AppendIndented(nil, text, "    ")
		Count(text, 10)
		String(text)
		if !valid {
			return
		}
		if !json.Valid(canonical) || !bytes.Equal(canonical, AppendCanonical(nil, canonical)) {
			t.Fatalf("%q becomes %q", text, canonical)
		}
		var standard bytes.Buffer
		if err := json.Indent(&standard, bytes.TrimSpace(text), "", "    "); err != nil || standard.String() != string(indented) {
			t.Fatalf("%q is indented as %q, want %q (%v)", text, indented, standard.String(), err)
		}
		var a, b any
		if json.Unmarshal(text, &a) == nil && json.Unmarshal(canonical, &b) == nil && !reflect.DeepEqual(a, b) {
			t.Fatalf("%q becomes %q, which means something else", text, canonical)
		}
	})
}

func FuzzAppendUnquoted(f *testing.F) {
	f.Add([]byte(`"\u0041\ud83d\ude00\ud800\udc0\ud83d\ud83d\udc00\"\\\/\b\f\n\r\t"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := AppendUnquoted([]byte("before"), text)
		var want string
		if utf8.Valid(text) && len(text) > 0 && text[0] == '"' && json.Unmarshal(text, &want) == nil && string(bytes.TrimSpace(text)) == string(text) {
			must.Equal(t, string(text)+": string(got)", string(got), "before"+want)
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\x00\u2028<>&é")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip("JSON is made of Unicode")
		}
		quoted := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != s || String(quoted) != s {
			t.Errorf("%q becomes %s, which is %q (%v)", s, quoted, back, err)
		}
	})
}
