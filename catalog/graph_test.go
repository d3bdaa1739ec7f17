package catalog

import (
	"fmt"
	"slices"
	"testing"
)

// FuzzGraph makes channels of up to 16 entries from bytes and compares the
// graph with what can be said about it without following it.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{1, 0, 2, 0, 3, 0})
	f.Add([]byte{1, 0xf0, 0, 2, 2, 0})
	f.Add([]byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		var entries []Entry
		for i := 0; i+1 < len(data) && i < 32; i += 2 {
			e := Entry{Name: fmt.Sprintf("v%d", i/2)}
			if to := int(data[i] & 0x1f); to != i/2 {
				e.Replaces = fmt.Sprintf("v%d", to)
			}
			if skip := data[i+1]; skip&0x80 != 0 {
				e.Skips = []string{fmt.Sprintf("v%d", skip&0x1f)}
			}
			entries = append(entries, e)
		}
		g := newGraph(entries)
		broken := g.check(func(Rule, string, string) {})
		if (len(g.heads) != 1) != (g.chain == nil) {
			t.Fatalf("heads %v, chain %v", g.heads, g.chain)
		}
		if len(g.heads) != 1 {
			if !broken {
				t.Fatalf("heads %v are fine", g.heads)
			}
			return
		}
		// Check that each entry of the chain replaces the next one.
		chain := g.chain
		if g.cycle != nil {
			chain = g.cycle
			if i := slices.Index(g.chain, chain[len(chain)-1]); i < 0 {
				t.Fatalf("the cycle %v does not come back to the chain %v", g.cycle, g.chain)
			}
		}
		if chain[0] != g.heads[0] {
			t.Fatalf("the chain %v does not begin with the head %s", chain, g.heads[0])
		}
		for i, name := range chain[:len(chain)-1] {
			at := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == name })
			if at < 0 || entries[at].Replaces != chain[i+1] || g.skipped[chain[i+1]] {
				t.Fatalf("%s is followed by %s in the chain %v", name, chain[i+1], chain)
			}
		}
		for _, e := range entries {
			places := 0
			for _, in := range []bool{slices.Contains(g.chain, e.Name), slices.Contains(g.stranded, e.Name), g.skipped[e.Name]} {
				if in {
					places++
				}
			}
			if g.cycle == nil && places != 1 {
				t.Fatalf("%s is in %d of chain %v, stranded %v and skipped %v", e.Name, places, g.chain, g.stranded, g.skipped)
			}
		}
		if broken != (g.cycle != nil || len(g.stranded) > 0) {
			t.Fatalf("broken %v, cycle %v, stranded %v", broken, g.cycle, g.stranded)
		}
	})
}

func TestRef(t *testing.T) {
	if got := (Ref{Namespace: "a", Name: "b"}).String() + " " + (Ref{Name: "c"}).String(); got != "a/b c" {
		t.Errorf("references read %q", got)
	}
	if (Ref{Namespace: "a", Name: "z"}).Compare(Ref{Namespace: "b", Name: "a"}) >= 0 || (Ref{Name: "a"}).Compare(Ref{Name: "a"}) != 0 {
		t.Error("references are ordered by namespace, then name")
	}
}
