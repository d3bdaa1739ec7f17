package image

import (
	"errors"
	"fmt"
)

// Kind classifies why an image could not be read or written, so that callers
// can decide without checking texts.
type Kind string

const (
	// NotFound: the registry has no such repository, tag, manifest or blob.
	NotFound Kind = "NotFound"
	// Unauthorized: the registry, or the local configuration, refuses access.
	Unauthorized Kind = "Unauthorized"
	// RateLimited: the registry asks to come back later.
	RateLimited Kind = "RateLimited"
	// Unavailable: the registry cannot be reached, broke off or failed.
	Unavailable Kind = "Unavailable"
	// Untrusted: the registry's certificate, or its lack of one, is not accepted.
	Untrusted Kind = "Untrusted"
	// DigestMismatch: the content is not what its digest says.
	DigestMismatch Kind = "DigestMismatch"
	// NoPlatform: the image is offered for other platforms only.
	NoPlatform Kind = "NoPlatform"
	// LimitExceeded: the image is larger, in some measure, than allowed.
	LimitExceeded Kind = "LimitExceeded"
	// InvalidReference: the reference is not a usable image name.
	InvalidReference Kind = "InvalidReference"
	// InvalidImage: the content is malformed or of a kind that is not supported.
	InvalidImage Kind = "InvalidImage"
	// Unverified: the signature policy does not let the image be used. It stays
	// so until the policy, or what is stored in the registry, changes.
	Unverified Kind = "Unverified"
)

// advice is what a user can do about an error that has no better advice.
var advice = map[Kind]string{
	NotFound:         "check the repository and the tag or digest, and that the image has been pushed or mirrored",
	Unauthorized:     "check that a pull secret or auth file has valid credentials for this repository",
	RateLimited:      "it will work again later; a pull secret or a mirror raises the limit",
	Unavailable:      "check the registry, the network, the proxy settings and the mirrors; it is worth trying again",
	Untrusted:        "put the registry's CA into certs.d, or list the host as insecure",
	DigestMismatch:   "the content was changed or damaged on its way; check the registry and the mirrors",
	NoPlatform:       "push the image for linux on this architecture",
	LimitExceeded:    "use a smaller image, or raise the limit",
	InvalidReference: "write it as host/repository:tag or host/repository@sha256:...",
	Unverified:       "sign the image, or correct the signature policy",
	InvalidImage:     "build the image again, as an OCI or Docker image with tar layers",
}

// Error is every error of this package that an image or a registry causes. Its
// text is stable: the same trouble gives the same words each time, so that it
// can be written to a status condition.
type Error struct {
	Kind   Kind
	Op     string // what was attempted, such as "pull"
	Ref    string // the image reference as the caller gave it
	Reason string // why it failed, with the registry's own words
	Advice string // what to do about it
	Err    error  // the cause, when there is one
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s image %s: %s: %s (%s)", e.Op, e.Ref, e.Kind, e.Reason, e.Advice)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Temporary tells whether the same request may succeed later without anyone
// changing the request, the configuration or the image.
func (e *Error) Temporary() bool { return e.Kind == Unavailable || e.Kind == RateLimited }

// KindOf returns the kind of the first Error in err's chain, or "" when there
// is none, as for a cancelled context or a full disk.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// problem starts an Error; complete fills in the rest where Op and Ref are known.
func problem(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Reason: fmt.Sprintf(format, args...)}
}

// complete fills what is still missing in the first Error of err's chain.
// Errors of other kinds, such as a cancelled context, get the operation and
// the image as their prefix.
func complete(err error, op, ref string) error {
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s image %s: %w", op, ref, err)
	}
	done := *e
	if done.Op == "" {
		done.Op = op
	}
	if done.Ref == "" {
		done.Ref = ref
	}
	if done.Advice == "" {
		done.Advice = advice[done.Kind]
	}
	if IsUndecided(err) {
		return undecided{&done}
	}
	return &done
}

// reasonOf returns the reason of the first Error in err's chain.
func reasonOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return err.Error()
}
