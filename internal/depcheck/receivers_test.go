package depcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestFewMethods: a type with more than maxMethods methods is several concepts, of which at least one has no name yet.
func TestFewMethods(t *testing.T) {
	methods := map[string]int{}
	for file := range sources(t) {
		parsed := must.Value(parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", file), nil, parser.SkipObjectResolution))(t)
		if ast.IsGenerated(parsed) {
			continue
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			receiver := fn.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			if generic, ok := receiver.(*ast.IndexExpr); ok {
				receiver = generic.X
			}
			methods[path.Dir(file)+"."+fmt.Sprint(receiver)]++
		}
	}
	most := 0
	for receiver, n := range methods {
		most = max(most, n)
		if n > maxMethods {
			t.Errorf("%s has %d methods, the most is %d: look for the concept that has no name yet", receiver, n, maxMethods)
		}
	}
	if most < maxMethods/2 {
		t.Errorf("the largest receiver found has %d methods: this looks at nothing", most)
	}
}
