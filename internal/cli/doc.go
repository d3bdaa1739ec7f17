// Package cli is the command line of fairlead: one file a command, each of which parses, calls one function of the library and prints.
// It holds no behaviour of the system.
//
// Errors go to stderr with what to do next. Exit codes: 0 done, 1 an error, 2 the command line was not understood, 3 the answer to a
// question is no. Start reading at Run (cli.go).
package cli
