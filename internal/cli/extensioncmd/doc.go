// Package extensioncmd holds the commands about what can be installed and what is: search, info and versions over catalogs, and those
// that install, upgrade, remove and set back ClusterExtensions, and Subscriptions where they mean the same. Each parses, calls one library
// and prints. Start reading at Commands.
package extensioncmd
