// Package operations holds docs/operations.md to what it says of managers beside definitions of other versions. Start reading at TestDowngrade.
package operations
