package bundle

import (
	"encoding/json"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"fairlead.dev/fairlead/test/must"
)

// TestJSON reads what JSON allows and YAML does not, or reads in another way.
func TestJSON(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
	}{
		"a character in two halves":     {`{"k": "\ud83d\ude00 \uD83D\uDE00"}`, "😀 😀"},
		"half a character":              {`{"k": "a\ud83db\ude00c"}`, "a\ufffdb\ufffdc"},
		"halves in the wrong order":     {`{"k": "\ude00\ud83d"}`, "\ufffd\ufffd"},
		"a line separator":              {"{\"k\": \"a\u2028b \u0085 c\"}", "a\u2028b \u0085 c"},
		"escaped slashes and control":   {`{"k": "\/\b\f\n\r\t\u0000\u007f"}`, "/\b\f\n\r\t\x00\x7f"},
		"tabs between tokens":           {"{\t\"k\"\t:\t\"v\"\r\n\t}", "v"},
		"a byte order mark":             {"\ufeff{\"k\": \"v\"}", "v"},
		"a key as long as YAML refuses": {`{"` + strings.Repeat("x", 2000) + `": 1, "k": "\ud83d\ude00"}`, "😀"},
		"text that YAML would resolve":  {`{"k": "yes"}`, "yes"},
		"the key of merges":             {`{"<<": {"x": "y"}, "k": "v"}`, "v"},
		"and more documents":            {"{\"k\": \"\\ud83d\\ude00\"}\n---\n{\"k\": \"other\"}", "😀"},
		"YAML that begins like JSON":    {`{k: v}`, "v"},
	} {
		t.Run(name, func(t *testing.T) {
			value, warnings, err := decodeValue(file{data: []byte(test.text)}, fuzzLimits)
			must.NoError(t, err)
			must.Equal(t, "it", value.(map[string]any)["k"], any(test.want))
			must.Equal(t, "the warnings", len(warnings) > 0, strings.Contains(test.text, "---"))
		})
	}
}

// TestJSONThatIsRefused keeps limits, and lines of errors.
func TestJSONThatIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"nested too deep":         {"{\"k\":\n" + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "}", "line 2: nested more than 50 deep"},
		"a number without end":    {`{"k": 1e999}`, `line 1: read "1e999" as a number`},
		"neither JSON nor YAML":   {`{"k": "\ud83d\ude00"`, "parse: yaml:"},
		"an object after another": {`{"k": "\ud83d\ude00"} {"k": 1}`, "parse: yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decodeValue(file{data: []byte(test.text)}, fuzzLimits)
			must.Fail(t, "decodeValue", err, test.want)
		})
	}
}

// TestAKeyThatIsThereTwice is reported for JSON as for YAML, with its line.
func TestAKeyThatIsThereTwice(t *testing.T) {
	value, warnings, err := decodeValue(file{data: []byte("{\"a\": 1,\n\n\"a\": 2}")}, fuzzLimits)
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0].Error(), `line 3: the key "a" is there twice`) || value.(map[string]any)["a"] != int64(2) {
		t.Errorf("%v, %v, %v", value, warnings, err)
	}
}

// FuzzJSON reads JSON as Kubernetes does, and finds the lines of all its fields.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a": "\ud83d\ude00"}`, `["\ud83d", "\ude00\ud83d", "\u2028"]`, "{\"a\":\n[1, 2.0, 1e3, -0, -0.0, -0e7, 12345678901234567890, true, null]}", `{"<<": {"a": 1}, "a": {"b": []}}`, "[\"\t\"]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want any
		if !json.Valid(data) || utiljson.Unmarshal(data, &want) != nil {
			return
		}
		if trimmed := strings.TrimLeft(string(data), " \t\r\n"); trimmed[0] != '{' && trimmed[0] != '[' {
			return // as YAML
		}
		got, warnings, err := decodeValue(file{data: data}, fuzzLimits)
		if err != nil {
			if !strings.Contains(err.Error(), "more than") && !strings.Contains(err.Error(), "as a number: ") {
				t.Fatalf("JSON is refused: %v", err)
			}
			return
		}
		if len(warnings) > 0 {
			return // a key that is there twice
		}
		must.Equal(t, "read otherwise", canonical(t, got), canonical(t, want))
	})
}

// canonical is a value as JSON, in which whole floats are integers, and zero has no sign: API servers make 0 of -0, which clients send for -0.0.
func canonical(t *testing.T, value any) string {
	t.Helper()
	text := must.Value(json.Marshal(value))(t)
	var again any
	must.NoError(t, json.Unmarshal(text, &again))
	text = must.Value(json.Marshal(withoutSign(again)))(t)
	return string(text)
}

// withoutSign makes 0 of -0, wherever it is.
func withoutSign(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = withoutSign(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutSign(v[i])
		}
	case float64:
		if v == 0 {
			return 0.0
		}
	}
	return value
}
