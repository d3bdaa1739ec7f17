package signature

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/image"
)

// action is what a requirement asks for.
type action string

const (
	actionAccept action = "accept"
	actionReject action = "reject"
	actionVerify action = "verify"
)

// requirement is what one rule of a policy asks of the images in its scope.
type requirement struct {
	// rule names the rule and its file in messages.
	rule   string
	action action
	// reason is why a rejecting requirement rejects; empty when it says so itself.
	reason string

	// anyOf are the signers, of whom one suffices.
	anyOf []*signer
	// attestation is the predicate type that must be signed; empty for a
	// plain signature.
	attestation string
	// identity, when set, judges the reference that a signature names. Only
	// signature tags have one.
	identity identityMatch

	// byDefault is set when no scope matched.
	byDefault bool
	// covers lets an image that satisfies the requirement cover what it names.
	covers bool
}

// try reports whether a candidate satisfies the requirement.
func (r *requirement) try(c *candidate, request image.VerifyRequest, now time.Time) (verified, error) {
	if r.identity != nil {
		if c.payload == nil {
			return verified{}, errors.New("it names no reference, which policy.json requires")
		}
		if err := r.identity(request, c.payload.reference); err != nil {
			return verified{}, err
		}
	}
	var reasons []string
	for _, s := range r.anyOf {
		v, err := s.check(c, request.Digest, now)
		// Keep apart those who sign an image and those who make other claims about it.
		switch {
		case err != nil:
		case r.attestation == "" && (!v.statement || v.predicate == predicateSignature):
			return v, nil
		case r.attestation == "":
			err = fmt.Errorf("it makes the claim %q, which is no signature of the image", v.predicate)
		case !v.statement:
			err = fmt.Errorf("it is a signature, and no attestation %s", r.attestation)
		case v.predicate != r.attestation:
			err = fmt.Errorf("it makes the claim %q, not %q", v.predicate, r.attestation)
		default:
			v.signer.Predicate = v.predicate
			return v, nil
		}
		if reason := fmt.Sprintf("%s: %s", s, oneLine(err)); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return verified{}, errors.New("not by " + strings.Join(reasons, ", nor by "))
}

// oneLine keeps messages to one line of bounded length.
func oneLine(err error) string {
	return safetext.Truncate(strings.Join(strings.Fields(err.Error()), " "), 300)
}
