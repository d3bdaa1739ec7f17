// Package owncache gives a controller a cache of its own, of what the manager's cache leaves out or holds more of than the controller needs.
//
// Start reading at Add.
package owncache
