package messages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	got := Table([]string{"NAME", "NOTE"}, []string{"größer", ""}, []string{"a\nb", "red\x1b[31m"})
	want := "NAME    NOTE\ngrößer  -\na b     red [31m\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if Table() != "" {
		t.Error("no rows are printed as something")
	}
}

func TestIndent(t *testing.T) {
	if got, want := Indent("a\n\nb\n", 2), "  a\n\n  b\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
