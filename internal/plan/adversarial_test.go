package plan

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
)

// TestAdversarialCatalogs decides on catalogs that are made to be hard: there is a decision for every Subscription, an answer, a
// conflict, or word that the budget ran out.
func TestAdversarialCatalogs(t *testing.T) {
	hard, large, deep := mutual(t, 60, 3), mutual(t, 200, 1), labyrinth(t, 12, 3)
	for name, in := range map[string]Input{
		"mutually dependent packages":     subscribe(hard, hard.PackageNames()...),
		"200 mutually dependent packages": subscribe(large, large.PackageNames()...),
		"deep constraints":                subscribe(deep, deep.PackageNames()...),
	} {
		t.Run(name, func(t *testing.T) {
			result, err := Namespace(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			decided := 0
			for _, g := range result.Groups {
				decided += len(g.Subscriptions)
				var conflict *Conflict
				var budget *resolve.BudgetExceeded
				if g.Err != nil && !errors.As(g.Err, &conflict) && !errors.As(g.Err, &budget) {
					t.Error(g.Err)
				}
			}
			if decided != len(in.Subscriptions) {
				t.Errorf("%d Subscriptions of %d have a decision", decided, len(in.Subscriptions))
			}
		})
	}
}

// TestRuleThatCostsTooMuchInACatalog asks hundreds of bundles, each with enough properties, whether they meet a rule that costs a lot.
func TestRuleThatCostsTooMuchInACatalog(t *testing.T) {
	c := &catalog.Catalog{}
	hostile := json.RawMessage(`{"cel":{"rule":"size(properties) > 10 && properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, properties.all(f, a == a))))))"}}`)
	generatedPackage(c, 0, 1, catalog.Property{Type: catalog.PropertyConstraint, Value: hostile})
	var many []catalog.Property
	for range 12 {
		many = append(many, catalog.Property{Type: "x", Value: json.RawMessage(`1`)})
	}
	generatedPackage(c, 1, 500, many...)
	generatedPackage(c, 2, 1)
	result := namespace(t, subscribe(generatedIndex(t, c), "package000", "package002"))
	if err := result.Groups[0].Err; err == nil || !strings.Contains(err.Error(), "has cost too much") {
		t.Errorf("error %v, want one about the cost", err)
	}
	if err := result.Groups[1].Err; err != nil {
		t.Errorf("a rule that costs too much harms another Subscription: %v", err)
	}
}

// TestCostIsLinear counts allocations, which are about the same on every machine.
func TestCostIsLinear(t *testing.T) {
	cost := func(candidates int) float64 {
		in := subscribe(generated(t, 1, candidates), "package000")
		return testing.AllocsPerRun(1, func() {
			if _, err := Namespace(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		}) / float64(candidates)
	}
	if few, many := cost(200), cost(5000); many > 1.3*few {
		t.Errorf("%.1f allocations a candidate among 200 candidates, %.1f among 5,000", few, many)
	}
}

// TestContextEnds has a decision stopped from outside.
func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Namespace(ctx, palette(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
