package constraint

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// maxCost bounds the work of one evaluation of a rule, in the units of CEL. The rules of catalogs cost some hundreds.
const maxCost = 100_000

// perUnit is how many bytes, or items of a list, cost one unit.
const perUnit = 10

// sizes charges calls for the texts and lists they work on, after the call: what takes time in proportion to its arguments, or makes
// something as large as they are.
type sizes struct{}

// CallCost is the cost of a call; nil where CEL charges for more than that.
func (sizes) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	if overload == overloads.MatchesString || overload == overloads.ContainsString {
		return nil
	}
	cost := uint64(1)
	for i, arg := range args {
		// What is added to a list counts, not the list: it is not copied.
		if _, isList := arg.(traits.Lister); !isList || function != operators.Add || i > 0 {
			cost += size(arg) / perUnit
		}
	}
	return &cost
}

// size is how many bytes or items there are, without those of items.
func size(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok && n > 0 {
			return uint64(n)
		}
	}
	return 0
}

// budgetName is under which name an evaluation has its budget; no rule can say it.
const budgetName = "@budget"

// budget is what the calls of one evaluation may cost that are charged beforehand.
type budget struct{ left int64 }

// pay takes a cost off the budget. It is false when there is not as much left.
func (b *budget) pay(cost int64) bool {
	b.left -= cost
	return b.left >= 0
}

// payFor pays for all of a value, with what is in it, and gives up as soon as the budget does: a small value can refer to the same parts
// so often that checking all of it would never end.
func (b *budget) payFor(v ref.Val) bool {
	switch v := v.(type) {
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			if !b.pay(1) || !b.payFor(key) || !b.payFor(v.Get(key)) {
				return false
			}
		}
		return true
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			if !b.pay(1) || !b.payFor(it.Next()) {
				return false
			}
		}
		return true
	}
	return b.pay(int64(size(v) / perUnit))
}

// guarded is a call that is paid for before it is made, because one can take any time.
type guarded struct {
	interpreter.InterpretableCall
	pay  func(b *budget, left, right ref.Val) bool
	call func(left, right ref.Val) ref.Val
}

// guards are the calls whose time does not depend on the sizes of their arguments alone.
var guards = map[string]guarded{
	operators.Equals:    {pay: payForBoth, call: types.Equal},
	operators.NotEquals: {pay: payForBoth, call: func(l, r ref.Val) ref.Val { return types.Bool(types.Equal(l, r) != types.True) }},
	operators.In:        {pay: payForBoth, call: contains},
	operators.OldIn:     {pay: payForBoth, call: contains},
	overloads.Matches:   {pay: payForMatch, call: matches},
}

// guard puts guards before the calls that need one.
func guard(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	call, ok := i.(interpreter.InterpretableCall)
	if !ok {
		return i, nil
	}
	g, ok := guards[call.Function()]
	if !ok || len(call.Args()) != 2 {
		return i, nil
	}
	g.InterpretableCall = call
	return g, nil
}

// Eval makes the call if it can be paid for.
func (g guarded) Eval(ctx interpreter.Activation) ref.Val {
	left, right := g.Args()[0].Eval(ctx), g.Args()[1].Eval(ctx)
	for _, v := range []ref.Val{left, right} {
		if types.IsUnknownOrError(v) {
			return v
		}
	}
	found, _ := ctx.ResolveName(budgetName)
	if b, ok := found.(*budget); !ok || !g.pay(b, left, right) {
		return types.NewErr("the values are too large for %s", g.Function())
	}
	return g.call(left, right)
}

func payForBoth(b *budget, left, right ref.Val) bool { return b.payFor(left) && b.payFor(right) }

// payForMatch pays for each step of an expression at each place of a text.
func payForMatch(b *budget, text, expression ref.Val) bool {
	return b.pay(int64((1 + size(text)/perUnit) * (1 + size(expression)/perUnit)))
}

func contains(value, list ref.Val) ref.Val {
	if container, ok := list.(traits.Container); ok {
		return container.Contains(value)
	}
	return types.MaybeNoSuchOverloadErr(list)
}

func matches(text, expression ref.Val) ref.Val {
	if matcher, ok := text.(traits.Matcher); ok {
		return matcher.Match(expression)
	}
	return types.MaybeNoSuchOverloadErr(text)
}
