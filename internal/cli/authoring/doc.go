// Package authoring holds the commands with which operators and catalogs are written: `fairlead bundle`, `fairlead catalog`, and the command
// line of opm. Each parses its arguments, calls one function of a library, and prints. Judgement about bundles and catalogs lives in the
// packages of those names and below.
//
// opm is the tool with which catalogs have been written so far: the same verbs, flags, output and exit codes on top of our libraries, so that
// pipelines that call it run unchanged. The binary behaves so when it is called opm, by a link or as the small program cmd/opm. What is new is
// never only there. Where the other tool's behavior was a defect, ours differs; docs/opm.md lists every difference.
//
// Start reading at NewBundle (bundle.go), NewCatalog (catalog.go) and RunOpm (opm_root.go).
package authoring
