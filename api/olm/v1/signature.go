package v1

// TypeSignatureVerified is the condition of a ClusterCatalog and a ClusterExtension that reports who signed the content or the bundle, or why
// the signature policy refuses it. It is absent where no policy is configured.
const TypeSignatureVerified = "SignatureVerified"

// Reasons of TypeSignatureVerified.
const (
	// ReasonSigned: the image has the signature or attestation that the policy requires.
	ReasonSigned = "Signed"
	// ReasonCovered: a signed catalog names the image by its digest.
	ReasonCovered = "Covered"
	// ReasonAccepted: the policy accepts the image without a signature.
	ReasonAccepted = "Accepted"
	// ReasonUnverified: the policy refuses the image.
	ReasonUnverified = "Unverified"
	// ReasonUndecided: whether the policy accepts the image could not be found out, so it is not used.
	ReasonUndecided = "Undecided"
)
