package catalog

import "testing"

// TestToJSON keeps JSON, half characters included, and converts YAML.
func TestToJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "\ud83d\ude00"}`: `{"a": "\ud83d\ude00"}`,
		`["\ud83d"]`:            `["\ud83d"]`,
		"a: yes":                `{"a":true}`,
		"{a: b}":                `{"a":"b"}`,
	} {
		if got, err := ToJSON([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	if _, err := ToJSON([]byte(`{"a": "\ud83d\ude00"`)); err == nil {
		t.Error("half a document is accepted")
	}
}
