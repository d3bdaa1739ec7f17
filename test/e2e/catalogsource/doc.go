// Package catalogsource proves on the embedded cluster what CatalogSources lead to: scenarios of the specification, managers side by side, and
// an API server that comes and goes. It holds tests only, each with managers of its own; test/e2e/README.md says which scenario is where.
//
// Start reading at TestManagersSideBySide.
package catalogsource
