package resolve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// rules adds clauses with short texts, for tests.
type rules struct{ Problem }

func (r *rules) require(id string) {
	r.Require(r.Var(id), Origin{Text: id + " exists"})
}

func (r *rules) need(o Origin, id string, candidates ...string) {
	var vs []Var
	for _, c := range candidates {
		vs = append(vs, r.Var(c))
	}
	o.Text = fmt.Sprintf("%s needs %s%s", id, strings.Join(candidates, " or "), o.Text)
	r.Depends(r.Var(id), vs, o)
}

func TestExplanation(t *testing.T) {
	tests := map[string]struct {
		build func(*rules)
		want  string
	}{
		"nothing provides what is requested": {
			build: func(r *rules) {
				r.require("a")
				r.need(Origin{Text: "an API that nobody provides", Hint: "Add a catalog."}, "a")
			},
			want: "because a exists\nand a needs an API that nobody provides\nthere is no solution\nAdd a catalog.",
		},
		"many versions miss the same thing": {
			build: func(r *rules) {
				r.require("a")
				r.need(Origin{}, "a", "a.v3", "a.v2", "a.v1")
				for _, v := range []string{"a.v3", "a.v2", "a.v1"} {
					r.need(Origin{Text: "package b", Alike: "needs package b"}, v)
				}
			},
			want: "because a exists\nand a needs a.v3 or a.v2 or a.v1\nand a.v3 needs package b (and 2 more alike)\nthere is no solution",
		},
		"many versions need the same impossible thing": {
			build: func(r *rules) {
				r.require("a")
				r.need(Origin{}, "a", "a.v2", "a.v1")
				r.need(Origin{}, "a.v2", "b")
				r.need(Origin{}, "a.v1", "b")
				r.Forbid(r.Var("b"), Origin{Text: "b is out"})
			},
			want: "because a exists\nand a needs a.v2 or a.v1\nand a.v2 needs b (and 1 more alike)\nand b is out\nthere is no solution",
		},
		"two requests clash, the conflict comes last": {
			build: func(r *rules) {
				r.require("b")
				r.require("a")
				r.need(Origin{}, "a", "x")
				r.need(Origin{}, "b", "y")
				r.Conflict(r.Var("y"), r.Var("x"), Origin{Text: "x and y exclude each other"})
				r.require("unrelated")
			},
			want: "because a exists\nand a needs x\nand b exists\nand b needs y\nand x and y exclude each other\nthere is no solution",
		},
		"a long chain is abridged, and the last hint is told": {
			build: func(r *rules) {
				r.require("p0")
				for i := range 20 {
					r.need(Origin{Hint: fmt.Sprintf("Look at p%d.", i)}, fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i+1))
				}
				r.Forbid(r.Var("p20"), Origin{Text: "p20 is out"})
			},
			want: "because p0 exists\nand p0 needs p1\nand p1 needs p2\nand 17 more reasons in between\nand p19 needs p20\n" +
				"and p20 is out\nthere is no solution\nLook at p19.",
		},
		"hostile text stays on its line": {
			build: func(r *rules) {
				r.require("a")
				r.Forbid(r.Var("a"), Origin{Text: "evil\nand all is well\x1b[2J" + strings.Repeat("ä", 500)})
			},
			want: "because a exists\nand evil and all is well [2J" + strings.Repeat("ä", 188) + "...\nthere is no solution",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var r rules
			tc.build(&r)
			_, err := Solve(context.Background(), &r.Problem, Options{})
			if err == nil {
				t.Fatal("there is a solution")
			}
			must.Equal(t, "err", err.Error(), tc.want)
		})
	}
}

func TestMachineForm(t *testing.T) {
	var r rules
	r.require("a")
	r.Formula(r.Var("a"), All(Lit(r.Var("x")), Not(Any(Lit(r.Var("y")), Lit(r.Var("x"))))), Origin{
		Object: "Subscription s", Field: "spec", Catalog: "c", Digest: "sha256:1", Text: "x without y or x",
	})
	_, err := Solve(context.Background(), &r.Problem, Options{})
	var none *Unsatisfiable
	if !errors.As(err, &none) {
		t.Fatal(err)
	}
	got := must.Value(json.Marshal(none))(t)
	want := `{"core":[{"kind":"mandatory","subject":"a","origin":{"text":"a exists"}},` +
		`{"kind":"compound","subject":"a","others":["x","y"],"origin":{"object":"Subscription s","field":"spec","catalog":"c",` +
		`"digest":"sha256:1","text":"x without y or x"}}],"minimal":true}`
	must.Equal(t, "result", string(got), want)
}
