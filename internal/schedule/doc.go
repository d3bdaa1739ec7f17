// Package schedule decides when an upgrade may begin: in windows of the week in a named time zone, outside of freezes by date, from a date on for
// the ring of the cluster, or at once where a person lets one version through. The controllers of both APIs and fairlead outdated ask the same
// function.
//
// The package is pure: it has no client and no clock, and reads texts and times alone. It never decides what is upgraded to, and nothing about
// first installations and repairs: the one who asks leaves those out. What it cannot read holds upgrades back.
//
// Start reading at Judge (judge.go). Then:
//
//	rules.go    the annotations of the cluster, a namespace and an object, one upon the other
//	parse.go    the grammar of an annotation
//	opening.go  when a window, a freeze and a ring open, exact through changes of the clock
package schedule
