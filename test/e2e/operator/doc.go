// Package operator proves on the embedded cluster what Operators show: the components of an operator that is installed from a catalog, and
// objects that carry the label of a package. It holds tests only; test/e2e/README.md says which scenario is where.
//
// Start reading at world (main_test.go).
package operator
