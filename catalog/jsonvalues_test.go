package catalog

import "testing"

// TestJSONValues holds that quoted text counts once, and that nothing counts as less than it has.
func TestJSONValues(t *testing.T) {
	for text, want := range map[string]int{
		``: 1, `1`: 1, `"a,b:[{"`: 1, `"a\",b"`: 1, `[1,2,3]`: 4, `{"a":1}`: 3, `{"a":{"b":[]},"c":"\\"}`: 8,
	} {
		if got := JSONValues(text); got != want {
			t.Errorf("%s has %d values, want %d", text, got, want)
		}
		if got := JSONValues([]byte(text)); got != want {
			t.Errorf("%s has %d values as bytes, want %d", text, got, want)
		}
	}
}
