package console

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestLongTexts of objects are bounded, and it is said how much more there is.
func TestLongTexts(t *testing.T) {
	got := few(strings.Repeat("line\n\n", 20) + strings.Repeat("x", 5000))
	must.Equal(t, "lines that say something", len(got), maxLines/2+1)
	must.Equal(t, "the others", got[len(got)-1], "and 29 more lines")
	if line := few(strings.Repeat("x", 5000))[0]; len(line) > maxLine+10 {
		t.Errorf("a line of %d bytes", len(line))
	}
	must.Equal(t, "nothing", len(few(" \n")), 0)
	for want, value := range map[string]any{"nothing": nil, "text": "text", `{"a":1}`: map[string]any{"a": 1}, `{"v":">=1 <2"}`: map[string]any{"v": ">=1 <2"}, `["x"]`: []any{"x"}, "2": 2} {
		must.Equal(t, "a value", shownValue(value), want)
	}
	if text := shownValue(strings.Repeat("y", 5000)); len(text) > maxFieldValue+10 {
		t.Errorf("a value of %d bytes", len(text))
	}
}
