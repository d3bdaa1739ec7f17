// Package manager puts the parts together: the scheme, the client and its caches, the content store, the set of served catalogs, and the
// controllers. It is the only place that knows all controllers; it holds no logic of theirs.
//
// Start reading at Run (manager.go); controllers.go is the list of what runs.
//
// The manager as a command, its flags and how it logs, is in command.go and the files that begin with flags: New is for programs.
package manager
