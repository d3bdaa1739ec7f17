// Package prune cuts a catalog down to what a user wants of it, for a mirror
// or a smaller catalog, without breaking what it keeps.
//
// Filters choose packages, channels and versions; what they choose is then
// completed, not cut through. The versions that are kept of a channel are a
// stretch of the replaces chain of its head, with what they skip, so that the
// channel has one head and every version a way to it. What is installed stays,
// with its way to the kept head. What a kept bundle requires of other packages
// is kept, too, read as the resolver of Subscriptions reads it, and so is the
// default channel of a package, unless another one is made it. No
// edge is rewritten: an entry says the same as before, and the last one of a
// stretch replaces what is no longer there, which is legal.
//
// The result passes catalog.Validate; a package that does not pass it before is
// refused. The Report says of everything why it was kept, what was dropped, and
// which images a mirror needs.
//
// The package does no input or output except for writing a Report, and knows no
// cluster: what is installed is told to it. Start reading at prune.go, then at
// stretch.go.
package prune
