package safetext

import (
	"slices"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestNatural(t *testing.T) {
	want := []string{"", "1", "01", "4.9", "4.10", "4.10-eus", "a1b2", "a1b10", "a2", "alpha", "stable", "stable-4.9", "stable-4.10", "stable-v2", "stable-v02", "stable-v2.1", "stable-v10", "stable-v99999999999999999999998", "stable-v99999999999999999999999", "ü"}
	for _, less := range [][2]string{{"1", "01b"}, {"1a", "01b"}, {"01a", "1a"}} { // leading zeros decide last
		if Natural(less[0], less[1]) >= 0 {
			t.Errorf("%q is not before %q", less[0], less[1])
		}
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Natural)
	for i, a := range want {
		for j, b := range want {
			c := Natural(a, b)
			if (c < 0) != (Natural(b, a) > 0) || (c == 0) != (i == j) {
				t.Errorf("%q and %q: %d and %d", a, b, c, Natural(b, a))
			}
		}
	}
	// Of numbers with zeros before them the order is only that there is one.
	same := func(s []string) []string {
		return slices.DeleteFunc(slices.Clone(s), func(n string) bool { return n == "01" || n == "stable-v02" })
	}
	must.Equal(t, "order", same(got), same(want))
}
