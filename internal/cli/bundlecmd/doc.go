// Package bundlecmd holds the commands of `fairlead bundle`, one in a file: each parses its command line, calls one function of a
// library, and prints. Judgement about bundles lives in the package bundle.
package bundlecmd
