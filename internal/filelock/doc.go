// Package filelock lets one of several processes, or goroutines, do something
// while the others wait. It never breaks a lock, and knows nothing about what
// is being done. Start reading at Lock.
package filelock
