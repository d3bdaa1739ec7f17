package yamljson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/test/must"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var written = map[string]struct{ json, yaml string }{
	"scalars":          {`[null,true,-1.50,12345678901234567890,"a b"]`, "- null\n- true\n- -1.50\n- 12345678901234567890\n- a b\n"},
	"empty":            {`{"a":{},"b":[],"c":""}`, "a: {}\nb: []\nc: \"\"\n"},
	"nested":           {`{"a":{"b":[1,{"c":2,"d":[3]},[4,[5]]]},"e":6}`, "a:\n  b:\n  - 1\n  - c: 2\n    d:\n    - 3\n  - - 4\n    - - 5\ne: 6\n"},
	"top-level scalar": {`"x"`, "x\n"},
	"top-level object": {`{}`, "{}\n"},
	"words":            {`["true","yes","n","null","~"]`, "- \"true\"\n- \"yes\"\n- \"n\"\n- \"null\"\n- \"~\"\n"},
	"like numbers":     {`["1","1.0","0x1","1e3",".5","-1","+1","2001-01-01","1:30"]`, "- \"1\"\n- \"1.0\"\n- \"0x1\"\n- \"1e3\"\n- \".5\"\n- \"-1\"\n- \"+1\"\n- \"2001-01-01\"\n- \"1:30\"\n"},
	"versions":         {`["1.2.3","1.2.3-rc.1+5","v1","a.v1.2.3"]`, "- 1.2.3\n- 1.2.3-rc.1+5\n- v1\n- a.v1.2.3\n"},
	"marks":            {`["a: b","a #b","a:","- a","*a","{a}","a: ","#"," a","a "]`, "- \"a: b\"\n- \"a #b\"\n- \"a:\"\n- \"- a\"\n- \"*a\"\n- \"{a}\"\n- \"a: \"\n- \"#\"\n- \" a\"\n- \"a \"\n"},
	"plain with marks": {`["http://a.b/c#d","a, b [c] {d}","a - b"]`, "- http://a.b/c#d\n- a, b [c] {d}\n- a - b\n"},
	"keys":             {`{"a.b/c-d":1,"a b":2,"":3,"yes":4,"1":5,"-a":6,"<<":7}`, "a.b/c-d: 1\n\"a b\": 2\n\"\": 3\n\"yes\": 4\n\"1\": 5\n\"-a\": 6\n\"<<\": 7\n"},
	"lines":            {`{"a":"b\nc\n","d":"e\n\n  f","g":["h\n\n\n"]}`, "a: |\n  b\n  c\nd: |-\n  e\n\n    f\ng:\n- |+\n  h\n\n\n"},
	"lines, in quotes": {`[" a\nb","\na","a\r\nb","\n"]`, "- \" a\\nb\"\n- \"\\na\"\n- \"a\\r\\nb\"\n- \"\\n\"\n"},
	"control":          {`"\u0000\u0007\u0085\u2028\ufeff\u007f"`, "\"\\u0000\\u0007\\u0085\\u2028\\ufeff\\u007f\"\n"},
	"beyond ASCII":     {`["ü","aü😀"]`, "- \"ü\"\n- aü😀\n"},
}

func TestAppendYAML(t *testing.T) {
	for name, test := range written {
		t.Run(name, func(t *testing.T) {
			got := AppendYAML([]byte("---\n"), []byte(test.json))
			must.Equal(t, "YAML", string(got), "---\n"+test.yaml)
			back, err := Append(nil, got[4:], testLimits)
			if err != nil || !bytes.Equal(normal(back), normal([]byte(test.json))) {
				t.Errorf("it is read as %s (%v)", back, err)
			}
		})
	}
}

// FuzzAppendYAML checks that what is written is read as the same by us, and by
// the converter that Kubernetes uses.
func FuzzAppendYAML(f *testing.F) {
	for _, test := range written {
		f.Add([]byte(test.json))
	}
	f.Add([]byte(`{"` + strings.Repeat("k", 1100) + `":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if rawjson.Check(text, 20) != nil || hasHugeNumber(text) {
			t.Skip("not JSON, or not a number that YAML has")
		}
		text = bytes.ToValidUTF8(text, []byte("?"))
		want := normal(rawjson.AppendCanonical(nil, text))
		document := AppendYAML(nil, text)
		back, err := Append(nil, document, testLimits)
		must.NoErrorf(t, err, "%s is written as\n%s\nwhich cannot be read", text, document)
		if got := normal(rawjson.AppendCanonical(nil, back)); !bytes.Equal(got, want) {
			t.Fatalf("%s is written as\n%s\nwhich is read as %s", text, document, got)
		}
		var a, b any
		must.NoErrorf(t, yaml.Unmarshal(document, &a), "%s is written as\n%s\nwhich Kubernetes cannot read", text, document)
		must.NoError(t, json.Unmarshal(back, &b))
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatalf("%s is written as\n%s\nwhich Kubernetes reads as something else (-ours +theirs):\n%s", text, document, diff)
		}
	})
}

// normal undoes that a string can be written in several ways.
func normal(text []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return []byte(err.Error())
	}
	out, _ := json.Marshal(value)
	return out
}

func hasHugeNumber(text []byte) bool {
	var value any
	return json.Unmarshal(text, &value) != nil
}
