//go:build !race

package must

// Race reports whether the race detector runs, which takes about ten times as much time and memory.
const Race = false
