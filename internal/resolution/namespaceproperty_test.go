package resolution

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/test/sweep"

	"github.com/google/go-cmp/cmp"
)

// state is what a namespace has: installed operators and bundles as one kind of thing.
type state []*node

// before and after are the namespace as it is, and as it will be when the result is carried out.
func before(in NamespaceRequest) state {
	var s state
	for _, o := range in.current() {
		s = append(s, &node{operator: &o, bundle: o.bundle()})
	}
	return s
}

func after(in NamespaceRequest, result NamespaceResult) state {
	replaced := map[string]bool{}
	var chosen state
	for _, g := range result.Groups {
		for _, c := range g.Choices {
			chosen = append(chosen, &node{bundle: c.Bundle})
			replaced[c.Replaces] = true
		}
	}
	for _, n := range before(in) {
		if !replaced[n.bundle.Name] {
			chosen = append(chosen, n)
		}
	}
	return chosen
}

// unmet lists what a thing needs and the others do not provide.
func (s state) unmet(n *node) []string {
	var out []string
	has := func(what string, meets func(*node) bool) {
		if !meets(n) && !slices.ContainsFunc(s, func(o *node) bool { return o.bundle.Package != n.bundle.Package && meets(o) }) {
			out = append(out, what)
		}
	}
	for _, gvk := range n.bundle.Requires {
		if !slices.Contains(n.bundle.Provides, gvk) {
			has(gvk.String(), func(o *node) bool { return slices.Contains(o.bundle.Provides, gvk) })
		}
	}
	for _, p := range n.bundle.RequiredPackages {
		has(p.PackageName+" "+p.Range.String(), versionOf(p.PackageName, p.Range).meets)
	}
	for _, raw := range n.bundle.Constraints {
		if c, err := constraint.Parse(raw); err == nil && !s.without(n).meets(*c, n, false) {
			out = append(out, string(raw))
		}
	}
	return out
}

func (s state) without(n *node) state {
	return slices.DeleteFunc(slices.Clone(s), func(o *node) bool { return o.bundle.Package == n.bundle.Package })
}

// meets reports whether a constraint of own holds in the state without it. What is not to be there is about the others alone.
func (s state) meets(c constraint.Constraint, own *node, unwanted bool) bool {
	if !unwanted {
		s = append(slices.Clone(s), own)
	}
	part := func(part constraint.Constraint) bool {
		return s.without(own).meets(part, own, unwanted != (c.Not != nil))
	}
	switch {
	case c.Package != nil:
		return slices.ContainsFunc(s, versionOf(c.Package.Name, c.Package.Range).meets)
	case c.GVK != nil:
		return slices.ContainsFunc(s, func(n *node) bool { return slices.Contains(n.bundle.Provides, *c.GVK) })
	case c.All != nil:
		return !slices.ContainsFunc(c.All, func(c constraint.Constraint) bool { return !part(c) })
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, part)
	}
	return !slices.ContainsFunc(c.Not, part)
}

// clashes lists packages and APIs that more than one thing has.
func (s state) clashes() []string {
	seen, out := map[string]bool{}, []string{}
	note := func(what string) {
		if seen[what] && !slices.Contains(out, what) {
			out = append(out, what)
		}
		seen[what] = true
	}
	for _, n := range s {
		note("package " + n.bundle.Package)
		for i, gvk := range n.bundle.Provides {
			if !slices.Contains(n.bundle.Provides[:i], gvk) {
				note("API " + gvk.String())
			}
		}
	}
	return out
}

// checkResult proves that what was decided is allowed, and breaks nothing that works.
func checkResult(t testing.TB, in NamespaceRequest, result NamespaceResult) {
	t.Helper()
	was, is := before(in), after(in, result)
	for _, clash := range is.clashes() {
		if !slices.Contains(was.clashes(), clash) {
			t.Fatalf("more than one thing has %s", clash)
		}
	}
	for _, n := range is {
		unmet := is.unmet(n)
		if n.operator == nil && len(unmet) > 0 {
			t.Fatalf("%s is to be installed without %v", n.bundle.Name, unmet)
		}
		for _, what := range unmet {
			if !slices.Contains(was.unmet(n), what) {
				t.Fatalf("the installed %s loses %s", n.bundle.Name, what)
			}
		}
	}
	for _, g := range result.Groups {
		if g.Err != nil && len(g.Choices) > 0 {
			t.Fatalf("group %v has an error and choices", g.Subscriptions)
		}
		for _, c := range g.Choices {
			checkChoice(t, in, c)
		}
		var conflict *Conflict
		if errors.As(g.Err, &conflict) && !slices.ContainsFunc(conflict.Chain, func(l Link) bool { return strings.HasPrefix(l.Object, "Subscription ") }) {
			t.Fatalf("the conflict of %v speaks of no Subscription:\n%v", g.Subscriptions, g.Err)
		}
		if text := fmt.Sprint(g.Err); strings.Count(text, "\n") > 8 {
			t.Fatalf("an explanation of more than about eight lines:\n%s", text)
		}
	}
}

// checkChoice proves that a choice is one that its Subscriptions allow.
func checkChoice(t testing.TB, in NamespaceRequest, c Choice) {
	t.Helper()
	if c.Bundle.Deprecated {
		t.Fatalf("%s is deprecated", c.Bundle.Name)
	}
	for _, s := range in.Subscriptions {
		if !slices.Contains(c.Subscriptions, s.Name) {
			continue
		}
		if s.Package != c.Bundle.Package || s.Channel != "" && s.Channel != c.Channel || s.Catalog != c.Catalog && (c.Replaces == "" || !in.AnyCatalog) {
			t.Fatalf("%s from channel %s of %s is no answer to %+v", c.Bundle.Name, c.Channel, c.Catalog, s)
		}
	}
	if c.Replaces == "" {
		return
	}
	i := slices.IndexFunc(in.Operators, func(o Operator) bool { return o.Name == c.Replaces })
	if !in.Operators[i].Settled {
		t.Fatalf("%s replaces %s, which may not be replaced yet", c.Bundle.Name, c.Replaces)
	}
	for _, s := range in.Sources {
		if s.Ref != c.Catalog {
			continue
		}
		p, _ := s.Index.Package(c.Bundle.Package)
		channel, _ := p.Channel(c.Channel)
		was := in.Operators[i].Version
		if e, ok := channel.Entry(c.Bundle.Name); !ok || e.Replaces != c.Replaces && !slices.Contains(e.Skips, c.Replaces) &&
			(!e.SkipRange.Contains(was) || e.Bundle.Version.Version.LT(was)) {
			t.Fatalf("no edge leads from %s to %s", c.Replaces, c.Bundle.Name)
		}
	}
}

func checkNamespace(t testing.TB, data []byte, shuffles int) NamespaceResult {
	t.Helper()
	in := randomNamespace(t, data, false)
	result := namespace(t, in)
	want := result.String()
	checkResult(t, in, result)
	checkReplay(t, in, result)
	for range shuffles {
		if diff := cmp.Diff(want, decided(t, shuffled(in))); diff != "" {
			t.Fatalf("the order of the input shows in the answer:\n%s", diff)
		}
	}
	if diff := cmp.Diff(withoutCounts(want), withoutCounts(decided(t, randomNamespace(t, data, true)))); diff != "" {
		t.Fatalf("a package that nobody asks for shows in the answer:\n%s", diff)
	}
	return result
}

// withoutCounts leaves out how many packages a catalog has.
func withoutCounts(text string) string {
	for n := range randomPackages + 2 {
		text = strings.ReplaceAll(text, "has "+safetext.Count(n, "package"), "has packages")
	}
	return text
}

func randomData(rnd *rand.Rand) []byte {
	data := make([]byte, 60+rnd.IntN(400))
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	return data
}

// TestRandomNamespaces decides on random namespaces, and on each of them three more times in another order: on 500 with
// FAIRLEAD_TEST_SWEEP, else on a sample.
func TestRandomNamespaces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	answers, upgrades, conflicts, held := 0, 0, 0, 0
	namespaces := sweep.Of(150, 150, 500)
	for range namespaces {
		for _, g := range checkNamespace(t, randomData(rnd), 3).Groups {
			held += len(g.Held)
			if g.Err != nil {
				conflicts++
			}
			for _, c := range g.Choices {
				answers++
				if c.Replaces != "" {
					upgrades++
				}
			}
		}
	}
	if answers < namespaces/4 || upgrades < namespaces/20 || conflicts < namespaces/4 || held < namespaces/8 {
		t.Errorf("%d bundles installed, %d of them upgrades, %d conflicts, %d held back: the test shows too little", answers, upgrades, conflicts, held)
	}
}

func FuzzNamespace(f *testing.F) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 16 {
		f.Add(randomData(rnd))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkNamespace(t, data, 1) })
}
