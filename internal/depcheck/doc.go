// Package depcheck holds the import directions of the project as a table, and a test that proves them. It contains no code that
// runs; a change of the table is a change of the architecture, and belongs with a change of docs/architecture.md.
package depcheck
