package safetext

import "testing"

func TestTruncate(t *testing.T) {
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd...", "abcé": "abc..."} {
		if got := Truncate(text, 4); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for separator, want := range map[string]string{", ": "a, b and 2 more", "; ": "a; b; and 2 more"} {
		if got := List([]string{"a", "b", "c", "d"}, 2, separator); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := List([]string{"a", "b"}, 2, ", "); got != "a, b" {
		t.Errorf("all of them: %q", got)
	}
}
