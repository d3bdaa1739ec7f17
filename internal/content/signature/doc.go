// Package signature decides by signatures and a policy whether an image may be
// used. It implements image.Verifier for cosign's layouts: signature and
// attestation tags, and sigstore bundles found by referrers. Policies are
// files: one of our own schema, and containers' policy.json; where both are
// configured, both must be satisfied.
//
// It never accepts what it could not read or evaluate: an unreadable policy, a
// requirement that it does not know, or a registry that does not answer refuse
// the image. It never contacts anything but the endpoints of the image: logs,
// CA certificates and keys are trusted by files.
//
// Start reading at Verifier.Verify in verifier.go. It loads the policies
// (load.go, policy.go, containers.go), looks for the rule whose scope matches
// the requested reference (scope.go), tries whether the catalog that names the
// image covers it (cover.go), and else collects signatures (find.go,
// cosign.go) until each requirement is satisfied (requirement.go, signer.go).
// Sign (sign.go) is the other direction: it signs an image with a key.
package signature
