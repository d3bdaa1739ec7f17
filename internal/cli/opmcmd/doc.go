// Package opmcmd is the command line of opm, the tool with which catalogs have been written so far: the same verbs, flags, output and
// exit codes on top of our libraries, so that pipelines that call opm run unchanged. The binary behaves so when it is called opm, by a
// link or as the small program cmd/opm.
//
// What is new is never only here: `fairlead catalog` and `fairlead bundle` have all of it, with better words. Where the other tool's
// behaviour was a defect (nothing but the first error, no file names, an image pulled because a directory was misspelt) ours differs;
// docs/opm.md lists every difference. Start reading at root.go.
package opmcmd
