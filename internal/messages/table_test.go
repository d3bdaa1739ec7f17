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

func TestIndent(t *testing.T) {
	if got, want := Indent("a\n\nb\n", 2), "  a\n\n  b\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
