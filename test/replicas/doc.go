// Package replicas tests that several managers are one that does not fail: each is a process, as in a pod of its own, and they are killed, stopped and
// replaced while clients ask them.
package replicas
