package safetext

import (
	"fmt"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestTruncate(t *testing.T) {
	for text, want := range map[string]string{"": "", "abcd": "abcd", "abcde": "abcd...", "abcé": "abc..."} {
		must.Equal(t, fmt.Sprint(text)+": Truncate(text, 4)", Truncate(text, 4), want)
	}
}

func TestList(t *testing.T) {
	for separator, want := range map[string]string{", ": "a, b and 2 more", "; ": "a; b; and 2 more"} {
		if got := List([]string{"a", "b", "c", "d"}, 2, separator); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	must.Equal(t, "List", List([]string{"a", "b"}, 2, ", "), "a, b")
}
