// Package catalogcmd holds the commands of `fairlead catalog`, one in a file: each parses its command line, calls one function of a
// library, and prints. Judgement about catalogs lives in the package catalog and those below it.
package catalogcmd
