//go:build !linux

package realnode

import "errors"

const pluginDir = ""

// Node is there on Linux only.
type Node struct{ Config }

var errNeedsLinux = errors.New("a real node needs Linux: pods run in the namespaces of its kernel; without --real-node they are simulated")

// Check says that it cannot be.
func Check(string) error { return errNeedsLinux }

// Attach says that it cannot be.
func Attach(Config) (*Node, error) { return nil, errNeedsLinux }

// Detach has nothing to do.
func (n *Node) Detach() error { return nil }

// CleanUp has nothing to do.
func CleanUp() error { return nil }
