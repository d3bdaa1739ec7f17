// Package provenance turns the outcome of signature verifications into what statuses report, with the same reasons and words in both APIs,
// and into the record of a verification that an object keeps. It is pure: internal/image verifies, controllers write.
//
// Start reading at Verdict.
package provenance
