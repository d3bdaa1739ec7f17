// Package resolve finds the preferred set of things that satisfies a set of clauses, or explains why there is none.
//
// It knows ids, clauses and preferences, and nothing else: no catalogs, no API kinds, no Kubernetes. It never reads a
// clock, a map in its own order, or anything but its arguments, so equal problems have equal answers. Start reading at
// Problem, then Solve.
//
// # The problem
//
// A Var is a request ("subscription:etcd") or a candidate ("catalog/ns/stable/etcd.v1.2.0"). Clauses say what must be
// there (Require), what must not (Forbid), what needs one of which candidates, the most wanted first (Depends,
// Formula), and what excludes what (Conflict, AtMost). Each carries its Origin: the object, field and catalog it comes
// from and the sentence to tell a person.
//
// # The preferred answer
//
// Of all answers exactly one is preferred. It is defined by a walk.
//
//   - The requests are selected. They are visited in the order given by Problem.Order, the others after these by id.
//   - To visit what is selected is to meet its needs, one after the other: first by Field of their origins, digits
//     compared as numbers, then by kind, then by candidates.
//   - A need that something selected already meets adds nothing. Else its candidates are tried in order, and the first
//     one is chosen that some answer has together with everything chosen so far, and selected.
//   - What is chosen for a request is visited when the needs of all requests are met, in the order in which it was chosen:
//     what is asked for itself comes before how anything that is chosen gets what it needs. Anything else is visited at
//     once, before the next need.
//   - A Formula is a need whose candidates are expressions. Choosing All means to choose each part in turn; choosing
//     the absence of something keeps it out from then on. An expression holds already when what is selected or kept
//     out so far makes it true.
//
// So only requests and what a chosen need led to are selected, an early decision is never given up to please a later
// one, and less wanted candidates are taken only when the more wanted ones are impossible. Solution.Decisions tells
// which those were and Solution.WhyNot explains one. The order in which clauses were added has no influence.
//
// # How it works
//
// The part of the problem that the requests can reach is lowered to clauses over literals (compile, lower). The search
// is conflict-driven: it takes the decisions of the walk, propagates (two watched literals; counting for AtMost), and
// turns each conflict into a learned clause (first unique implication point) that names the decision to go back to.
// Learned clauses follow from the problem and from nothing else, so a candidate that they exclude was impossible after
// the decisions before it, and the walk that arrives at its end is the preferred one. There are no restarts, and no
// decisions besides those of the walk.
//
// Every learned clause remembers what it was derived from. A conflict without any decision is therefore traced back to
// the clauses of the caller that it rests on; those are cut down, one after the other, to a set of which none can be
// left out (core), and told as a chain of reasons (Unsatisfiable). An answer that shows one clause to be necessary mostly
// shows more of them, when one variable of it is turned at a time (rotate).
//
// All work is counted in steps against a budget, memory included; nothing recurses over its input.
package resolve
