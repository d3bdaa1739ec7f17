// Package scenarios finds the tests that pages name, and proves that the list of scenarios in test/e2e/README.md names tests that
// exist. It reads the sources of the project as text; test/docs asks it about the pages of docs. Start reading at Find.
package scenarios
