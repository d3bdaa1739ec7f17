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
	must.Equal(t, "Sample", Sample([]string{"a", "b"}, 5, ", "), "a, b and 3 more")
	items := []string{"a", "b", "c"}
	must.Equal(t, "First", fmt.Sprint(First(items, 1, "%d others"), First(items, 3, "%d others"), items), "[a 2 others] [a b c] [a b c]")
}

func TestFit(t *testing.T) {
	for text, want := range map[string]string{"": "", "abcdefgh": "abcdefgh", "abcdefghi": "abcde...", "abcd\u00e9fghi": "abcd..."} {
		got := Fit(text, 8)
		must.Equal(t, text, got, want)
		must.Equal(t, text+", twice", Fit(got, 8), want)
	}
	must.Equal(t, "Line", Line("a\nb\x1bcd", 4), "a b ...")
}
