// Package dependents tells what becomes of a ClusterExtension that was made for the needs of another one, when that one goes or needs it no
// more: who else needs it, and whether it has data that nobody has asked to lose. Its controller acts on that, and fairlead uninstall tells it
// beforehand.
//
// The package writes nothing; only Data reads a cluster. Start reading at Heir (heir.go).
package dependents
