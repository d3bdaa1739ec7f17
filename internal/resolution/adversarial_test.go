package resolution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/resolve"
	"fairlead.dev/fairlead/test/must"
)

// TestAdversarialCatalogs decides on catalogs that are made to be hard: there is a decision for every Subscription, an answer, a
// conflict, or word that the budget ran out.
func TestAdversarialCatalogs(t *testing.T) {
	hard, large, deep := mutual(t, 60, 3), mutual(t, 200, 1), labyrinth(t, 12, 3)
	for name, in := range map[string]NamespaceRequest{
		"mutually dependent packages":     subscribe(hard, hard.PackageNames()...),
		"200 mutually dependent packages": subscribe(large, large.PackageNames()...),
		"deep constraints":                subscribe(deep, deep.PackageNames()...),
	} {
		t.Run(name, func(t *testing.T) {
			result := must.Value(Namespace(context.Background(), in))(t)
			decided := 0
			for _, g := range result.Groups {
				decided += len(g.Subscriptions)
				var conflict *Conflict
				var budget *resolve.BudgetExceeded
				if g.Err != nil && !errors.As(g.Err, &conflict) && !errors.As(g.Err, &budget) {
					t.Error(g.Err)
				}
			}
			must.Equal(t, "decided", decided, len(in.Subscriptions))
		})
	}
}

// TestRuleThatCostsTooMuchInACatalog asks hundreds of bundles, each with enough properties, whether they meet a rule that costs a lot.
func TestRuleThatCostsTooMuchInACatalog(t *testing.T) {
	c := &catalog.Catalog{}
	hostile := json.RawMessage(`{"cel":{"rule":"size(properties) > 10 && properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, properties.all(f, a == a))))))"}}`)
	generatedPackage(c, 0, 1, catalog.Property{Type: catalog.PropertyConstraint, Value: hostile})
	generatedPackage(c, 1, 500, manyProperties(12)...)
	generatedPackage(c, 2, 1)
	result := namespace(t, subscribe(generatedIndex(t, c), "package000", "package002"))
	must.Fail(t, "the decision", result.Groups[0].Err, "has cost too much")
	if err := result.Groups[1].Err; err != nil {
		t.Errorf("a rule that costs too much harms another Subscription: %v", err)
	}
}

// TestRulesThatCostTooMuchStarveNobody has a bundle with many rules, none of them too dear for itself. Those of another package, which
// are asked later, are answered nevertheless.
func TestRulesThatCostTooMuchStarveNobody(t *testing.T) {
	c := &catalog.Catalog{}
	var rules []catalog.Property
	for i := range 20 {
		rules = append(rules, rule(fmt.Sprintf(`properties.all(a, properties.all(b, a.type + b.type != 'y')) && %d == %d && properties.exists(p, p.type == 'gold')`, i, i)))
	}
	generatedPackage(c, 0, 1, rules...)
	generatedPackage(c, 1, 300, manyProperties(60)...)
	generatedPackage(c, 2, 1, catalog.Property{Type: "gold", Value: json.RawMessage(`1`)})
	generatedPackage(c, 3, 1, rule(`properties.exists(p, p.type == 'gold')`))
	result := namespace(t, subscribe(generatedIndex(t, c), "package000", "package003"))
	must.Fail(t, "the decision", result.Groups[0].Err, "ask the authors of package package000 for needs that cost less")
	if err := result.Groups[1].Err; err != nil {
		t.Errorf("they keep another package's rule from being asked: %v", err)
	}
}

// TestNeedsThatCrowdOutNobody has a bundle that nobody asked for, in a catalog that is asked last, with needs that anything meets. It might
// provide what one Subscription needs. Neither that one, nor another one, is kept from its answer.
func TestNeedsThatCrowdOutNobody(t *testing.T) {
	good, evil := &catalog.Catalog{}, &catalog.Catalog{}
	wanted := json.RawMessage(`{"group":"g","version":"v1","kind":"X"}`)
	generatedPackage(good, 0, 1, catalog.Property{Type: catalog.PropertyGVKRequired, Value: wanted})
	generatedPackage(good, 1, 1, catalog.Property{Type: catalog.PropertyGVK, Value: wanted})
	generatedPackage(good, 2, 1)
	needs := []catalog.Property{{Type: catalog.PropertyGVK, Value: wanted}}
	for range 900 {
		needs = append(needs, rule("!properties.exists(p, p.type == 'olm.package' && p.value.packageName == 'package003')"))
	}
	generatedPackage(evil, 3, 1, needs...)
	generatedPackage(evil, 4, 1, catalog.Property{Type: catalog.PropertyGVK, Value: wanted}, catalog.Property{Type: catalog.PropertyConstraint,
		Value: json.RawMessage(`{"all":{"constraints":[{"any":{"constraints":[{"not":{"constraints":[{"cel":{"rule":"false"}}]}},` +
			strings.TrimSuffix(strings.Repeat(`{"cel":{"rule":"true"}},`, 900), ",") + `]}}]}}`)})
	for i := range 3000 {
		generatedPackage(evil, 5+i, 1)
	}
	in := subscribe(generatedIndex(t, good), "package000", "package002")
	last := in.Sources[0]
	last.Ref.Name, last.Priority, last.Index = "last", -100, generatedIndex(t, evil)
	in.Sources = append(in.Sources, last)
	for _, g := range namespace(t, in).Groups {
		if g.Err != nil {
			t.Errorf("Subscriptions %v: %v", g.Subscriptions, g.Err)
		}
	}
	in.Subscriptions = subscribe(last.Index, "package003").Subscriptions
	in.Subscriptions[0].Catalog = last.Ref
	must.Fail(t, "the decision", namespace(t, in).Groups[0].Err, "the needs of package package003 together have more than 500000 candidates")
}

// TestARuleTooDearForAnOperator has a rule that is stopped at the only operator there is to ask about. It is not known whether that meets
// it: so neither is it found, nor is it known to be absent.
func TestARuleTooDearForAnOperator(t *testing.T) {
	const bomb = `size(properties) > 10 && properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, properties.all(f, a == a))))))`
	for name, value := range map[string]string{
		"wanted":   fmt.Sprintf(`{"cel":{"rule":%q}}`, bomb),
		"unwanted": fmt.Sprintf(`{"not":{"constraints":[{"cel":{"rule":%q}}]}}`, bomb),
		"compound": fmt.Sprintf(`{"any":{"constraints":[{"all":{"constraints":[{"cel":{"rule":%q}},{"package":{"packageName":"package001","versionRange":">=0.0.0"}}]}}]}}`, bomb),
	} {
		t.Run(name, func(t *testing.T) {
			c := &catalog.Catalog{}
			generatedPackage(c, 0, 1, catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(value)})
			generatedPackage(c, 1, 1, manyProperties(12)...)
			result := namespace(t, subscribe(generatedIndex(t, c), "package000", "package001"))
			must.Fail(t, "the decision", result.Groups[0].Err, "this rule costs too much to be asked about 1 of the operators")
		})
	}
}

// rule is an olm.constraint with a rule in CEL.
func rule(text string) catalog.Property {
	return catalog.Property{Type: catalog.PropertyConstraint, Value: json.RawMessage(fmt.Sprintf(`{"cel":{"rule":%q}}`, text))}
}

func manyProperties(n int) []catalog.Property {
	many := make([]catalog.Property, n)
	for i := range many {
		many[i] = catalog.Property{Type: "x", Value: json.RawMessage(`1`)}
	}
	return many
}

// TestCostIsLinear counts allocations, which are about the same on every machine.
func TestCostIsLinear(t *testing.T) {
	cost := func(candidates int) float64 {
		in := subscribe(generated(t, 1, candidates), "package000")
		return testing.AllocsPerRun(1, func() {
			must.Value(Namespace(context.Background(), in))(t)
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
