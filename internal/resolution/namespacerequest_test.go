package resolution

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestCurrent(t *testing.T) {
	op := func(name, replaces, pkg string) Operator {
		return Operator{Name: name, Replaces: replaces, Package: pkg}
	}
	tests := map[string]struct {
		operators []Operator
		want      []string
	}{
		"one":                                {[]Operator{op("a1", "a0", "a")}, []string{"a1"}},
		"a chain is its newest":              {[]Operator{op("a1", "", "a"), op("a2", "a1", "a"), op("a3", "a2", "a")}, []string{"a3"}},
		"a circle stands, others beside it":  {[]Operator{op("a1", "a2", "a"), op("a2", "a1", "a"), op("c1", "", "c")}, []string{"a1", "a2", "c1"}},
		"what replaces itself stands":        {[]Operator{op("a1", "a1", "a")}, []string{"a1"}},
		"another package goes on from it":    {[]Operator{op("x2", "y1", "x"), op("y1", "", "y")}, []string{"x2"}},
		"another package that is stood for":  {[]Operator{op("x2", "z1", "x"), op("z1", "", "z")}, []string{"x2", "z1"}},
		"an unknown package may be the same": {[]Operator{op("x2", "y1", "x"), op("y1", "", "")}, []string{"x2"}},
		"a tail behind a circle is replaced": {[]Operator{op("a1", "a2", "a"), op("a2", "a1", "a"), op("a3", "a2", "a")}, []string{"a1", "a3"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range (NamespaceRequest{Operators: test.operators, Subscriptions: []Subscription{{Name: "z", Package: "z", Installed: "z1"}}}).current() {
				got = append(got, o.Name)
			}
			must.Equal(t, "got", got, test.want)
		})
	}
}
