package claims

import (
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestLine(t *testing.T) {
	all := Operators{
		{Namespace: "ns", Name: "op.v1"}, {Namespace: "ns", Name: "op.v2", Replaces: "op.v1"}, {Namespace: "ns", Name: "op.v4", Replaces: "op.v3"},
		{Namespace: "ns", Name: "other.v1"}, {Namespace: "elsewhere", Name: "op.v9", Replaces: "op.v2"},
		{Namespace: "ns", Name: "self", Replaces: "self"},
	}
	tests := map[string]struct {
		incoming Operator
		want     []string
	}{
		"the next version":            {Operator{Namespace: "ns", Name: "op.v3", Replaces: "op.v2"}, []string{"op.v1", "op.v2", "op.v3", "op.v4"}},
		"a first version":             {Operator{Namespace: "ns", Name: "new.v1"}, []string{"new.v1"}},
		"replaced one is gone":        {Operator{Namespace: "ns", Name: "op.v8", Replaces: "op.v7"}, []string{"op.v7", "op.v8"}},
		"an operator replaces itself": {Operator{Namespace: "ns", Name: "self", Replaces: "self"}, []string{"self"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := map[string]bool{}
			for _, n := range tc.want {
				want[n] = true
			}
			must.Equal(t, "line", all.line(tc.incoming), want)
		})
	}
}
