// Package scenarios proves that the list of scenarios in test/e2e/README.md names tests that exist. It holds a test only, and reads the
// sources of the project as text.
package scenarios
