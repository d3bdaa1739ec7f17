package messages

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/yaml"
)

// TestYAML: every text can be written, and read again as the same; of values that yaml.Marshal can write it is the same YAML.
func TestYAML(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x3000; r++ {
		all.WriteRune(r)
	}
	all.WriteString("\u3164\ufeff\ufffd\ufffe\uffff\U000e0041\U0001f600\\\"\\u007f")
	text := all.String()
	written := must.Value(YAML(map[string]any{"text": text, "key\x7f": []string{"a\u0085b"}}))(t)
	var got map[string]any
	must.NoError(t, yaml.Unmarshal(written, &got))
	must.Equal(t, "the text", got["text"], any(text))
	must.Equal(t, "another one", got["key\x7f"], any([]any{"a\u0085b"}))
	plain := map[string]any{"kind": "Kite", "list": []any{1, true, nil, "x: y", "long " + strings.Repeat("long ", 100)}, "block": "a\nb\n", "German": "Grüße", "big": int64(1) << 60}
	must.Equal(t, "what can be written otherwise", string(must.Value(YAML(plain))(t)), string(must.Value(yaml.Marshal(plain))(t)))
	_, err := YAML(map[string]any{"a": func() {}})
	must.Fail(t, "what is no value", err, "unsupported type")
}
