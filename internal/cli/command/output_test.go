package command

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestWriteReadable: ranges such as ">=1.0.0 <2" are read by people in all formats, and JSON stays JSON.
func TestWriteReadable(t *testing.T) {
	value := map[string]string{"range": ">=1.0.0 <2 & \"more\"\u2028\x1b"}
	for format, want := range map[Output]string{
		OutputJSON: `"range": ">=1.0.0 <2 & \"more\"\u2028\u001b"`,
		OutputYAML: `>=1.0.0 <2 & \"more\"`,
		OutputText: "text",
	} {
		var b strings.Builder
		must.NoError(t, format.Write(&b, value, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }))
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: got %s, want %s", format, b.String(), want)
		}
		var back map[string]string
		if format == OutputJSON && (json.Unmarshal([]byte(b.String()), &back) != nil || back["range"] != value["range"] || !strings.HasSuffix(b.String(), "}\n")) {
			t.Errorf("read back as %q", back)
		}
	}
	if err := OutputJSON.Write(io.Discard, func() {}, nil); err == nil || !strings.HasPrefix(err.Error(), "encode the result: ") {
		t.Errorf("got %v", err)
	}
}
