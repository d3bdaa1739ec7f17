package messages

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestTable(t *testing.T) {
	got := Table([]string{"NAME", "NOTE"}, []string{"größer", ""}, []string{"a\nb", "red\x1b[31m"})
	want := "NAME    NOTE\ngrößer  -\na b     red [31m\n"
	must.Equal(t, "got", got, want)
	must.Equal(t, "no rows are printed as something", Table(), "")
}

// TestWideCharacters: columns are those of a terminal.
func TestWideCharacters(t *testing.T) {
	for text, want := range map[string]int{"": 0, "größer": 6, "日本語": 6, "🚀 up": 5, "e\u0301": 1, "a\u200bb": 2, "｡ﾊ": 2, "Ａ": 2} {
		must.Equal(t, "columns of "+text, Cells(text), want)
	}
	must.Equal(t, "table", Table([]string{"NAME", "NOTE"}, []string{"日本語", "x"}, []string{"🚀", "z"}), "NAME    NOTE\n日本語  x\n🚀      z\n")
	for text, want := range map[string]string{"日本語の名": "日本語の名", "日本語の名前": "日本語の…", "one two three": "one two…", "onetwothree": "onetwothr…"} {
		must.Equal(t, "short", Short(text, 10), want)
	}
}

func TestIndent(t *testing.T) {
	if got, want := Indent("a\n\nb\n", 2), "  a\n\n  b\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
