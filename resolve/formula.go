package resolve

// Formula is a boolean expression over Vars. The zero value holds always: it is All of nothing.
type Formula struct {
	op       operator
	variable Var
	parts    []Formula
}

type operator uint8

const (
	opAll operator = iota
	opAny
	opNot
	opLit
)

// Lit holds when v is in the answer.
func Lit(v Var) Formula { return Formula{op: opLit, variable: v} }

// All holds when every part holds. The parts are visited in order.
func All(parts ...Formula) Formula { return Formula{op: opAll, parts: parts} }

// Any holds when at least one part holds. The most wanted part comes first; without parts it never holds.
func Any(parts ...Formula) Formula { return Formula{op: opAny, parts: parts} }

// Not holds when f does not. Not(Any(...)) says that none of the parts holds.
func Not(f Formula) Formula { return Formula{op: opNot, parts: []Formula{f}} }
