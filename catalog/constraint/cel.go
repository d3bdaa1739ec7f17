package constraint

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/version"
)

// Rule is a condition in CEL on the properties of a bundle.
type Rule struct {
	// Text is the rule as its author wrote it.
	Text    string
	program cel.Program
}

// environment is what a rule can use: the properties of a bundle, and a comparison of versions.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("properties", cel.ListType(cel.MapType(cel.StringType, cel.AnyType))),
		cel.Function("semver_compare", cel.Overload("semver_compare_any_any", []*cel.Type{cel.AnyType, cel.AnyType}, cel.IntType,
			cel.BinaryBinding(compareVersions))),
	)
})

func compareVersions(a, b ref.Val) ref.Val {
	texts := [2]string{}
	for i, v := range []ref.Val{a, b} {
		text, ok := v.Value().(string)
		if !ok {
			return types.NewErr("semver_compare: %v is not a version in a string", v.Value())
		}
		texts[i] = text
	}
	first, err := version.ParseTolerant(texts[0])
	if err != nil {
		return types.NewErr("semver_compare: %v", err)
	}
	second, err := version.ParseTolerant(texts[1])
	if err != nil {
		return types.NewErr("semver_compare: %v", err)
	}
	return types.Int(first.Compare(second))
}

// Compile checks the syntax and the types of a rule, which has to be a yes or a no.
func Compile(rule string) (*Rule, error) {
	program, err := compile(rule)
	if err != nil {
		return nil, fmt.Errorf("CEL rule %q: %s", safetext.Truncate(rule, 100), safetext.Truncate(err.Error(), 500))
	}
	return &Rule{Text: rule, program: program}, nil
}

func compile(rule string) (cel.Program, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("set up CEL: %w", err)
	}
	parsed, issues := env.Parse(rule)
	if issues.Err() != nil {
		return nil, where(issues)
	}
	// Refuse rules of too many parts, before their types are checked.
	calls, lists := 0, 0
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.CallKind:
			calls++
		case ast.ListKind, ast.MapKind, ast.StructKind, ast.ComprehensionKind:
			lists++
		}
	}))
	switch {
	case calls > maxCalls:
		return nil, fmt.Errorf("it has %d operators and calls, and may have %d; split it into several constraints", calls, maxCalls)
	case lists > maxLists:
		return nil, fmt.Errorf("it has %d lists, maps and macros, and may have %d; split it into several constraints", lists, maxLists)
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return nil, where(issues)
	}
	if !checked.OutputType().IsExactType(cel.BoolType) {
		return nil, errors.New("cel expressions must have type Bool")
	}
	// Bound the work of an evaluation. CEL itself counts calls, and charges for the sizes of what they work on only where it knows the types; values of
	// properties can be anything.
	return env.Program(checked, cel.CostLimit(maxCost), cel.CostTracking(sizes{}), cel.CustomDecorator(guard))
}

// Meets tells whether the properties meet the rule. A rule that fails on them, or costs too much, is not met.
func (r *Rule) Meets(properties []catalog.Property) bool {
	met, _ := r.Ask(ValuesOf(properties))
	return met
}

// Ask is Meets for those who ask many rules about the same properties; cost is what this answer took, in the units of CEL.
func (r *Rule) Ask(properties Values) (met bool, cost uint64) {
	b := &budget{left: maxCost}
	result, details, err := r.program.Eval(map[string]any{"properties": []map[string]any(properties), budgetName: b})
	switch {
	case b.left < 0 || err != nil && (details == nil || details.ActualCost() == nil):
		return false, maxCost
	default:
		cost = *details.ActualCost() + uint64(maxCost-b.left)
	}
	return err == nil && result == types.True, min(cost, maxCost)
}

// TooDear tells whether an answer that took so much was none: the rule was stopped.
func TooDear(cost uint64) bool { return cost >= maxCost }

// Values are properties as a rule sees them.
type Values []map[string]any

// ValuesOf reads properties. One whose value is not JSON is not there.
func ValuesOf(properties []catalog.Property) Values {
	out := make(Values, 0, len(properties))
	for _, p := range properties {
		var value any
		if json.Unmarshal(p.Value, &value) == nil {
			out = append(out, map[string]any{"type": p.Type, "value": value})
		}
	}
	return out
}

// What a rule may be made of. The time to check the types of a rule grows with the square of its calls, and faster with lists in lists.
// The rules of catalogs have ten of these parts.
const (
	maxCalls = 1000
	maxLists = 100
)
