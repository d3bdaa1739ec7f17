package constraint

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
)

// What a rule may be made of. The time to check the types of a rule grows with the square of its calls, and faster with lists in lists.
// The rules of catalogs have ten of these parts.
const (
	maxCalls = 1000
	maxLists = 100
)

// countParts refuses rules of too many parts, before their types are checked.
func countParts(parsed *cel.Ast) error {
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
		return fmt.Errorf("it has %d operators and calls, and may have %d; split it into several constraints", calls, maxCalls)
	case lists > maxLists:
		return fmt.Errorf("it has %d lists, maps and macros, and may have %d; split it into several constraints", lists, maxLists)
	}
	return nil
}
