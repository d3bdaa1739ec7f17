package image

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Content is what a catalog controller knows of the signatures of the content
// that it serves, and of newer content that it does not. The zero value is
// that of content to which no policy applies.
type Content struct {
	// Image is the reference that the served content was requested by; empty
	// for content of another origin, which has no signatures.
	Image string
	// Policy identifies the policy of the last attempt.
	Policy string
	// Served is the verdict on the served content.
	Served Verdict
	// Pending is set while the served content was not verified under the
	// policy as it is now. It is not offered until then.
	Pending bool
	// Newer is the error about newer content, when the policy refuses that.
	Newer error
}

// Judgement is what an attempt to read a catalog finds out about signatures.
// Its zero value is that of an attempt that did not get that far.
type Judgement struct {
	// Image is the reference that was requested, and Policy the policy before.
	Image, Policy string
	// Verification is that of what the reference stands for now.
	Verification *Verification
	// Served is the verdict on the content that was served before, for an
	// attempt that failed; nil when it was not asked for.
	Served *Verdict
}

// After returns what is known after an attempt that ended with err.
func (c Content) After(j Judgement, err error) Content {
	if j.Image == "" {
		return c // not an image, or nothing was asked
	}
	c.Policy, c.Newer = j.Policy, nil
	if err == nil {
		return Content{Image: j.Image, Policy: j.Policy, Served: Verdict{Verification: j.Verification}}
	}
	if Decides(err) {
		c.Newer = err
	}
	if j.Served != nil {
		c.Served, c.Pending = *j.Served, false
	}
	return c
}

// Withheld reports whether the content must not be offered now.
func (c Content) Withheld() bool { return c.Pending || c.Served.Err != nil }

// Digest is that of the image that Served is the verdict on; empty where no
// policy applies.
func (c Content) Digest() string {
	if c.Served.Verification == nil {
		return ""
	}
	return c.Served.Verification.Digest
}

// Due reports whether the content has to be verified again: the policy is
// another, be it since the attempt began or since it decided, or the
// verification has expired.
func (c Content) Due(policy string, now time.Time) bool {
	v := c.Served.Verification
	switch {
	case c.Image != "" && c.Policy != policy:
		return true
	case v == nil:
		return false
	}
	return policy != "" && c.Decided() != policy || !v.Expires.IsZero() && !now.Before(v.Expires)
}

// Decided identifies the policy that Served is the verdict of. That of a
// verifier which does not say so is the policy of the attempt.
func (c Content) Decided() string {
	if v := c.Served.Verification; v != nil && v.PolicyDigest != "" {
		return v.PolicyDigest
	}
	return c.Policy
}

// Stale returns the content as it is while it has to be verified again.
func (c Content) Stale(policy string, now time.Time) Content {
	if c.Due(policy, now) {
		c.Pending = true
	}
	return c
}

// Condition is the condition SignatureVerified of a catalog; nil when there is
// nothing to report. Newer content that is refused comes first, with what is
// served meanwhile.
func (c Content) Condition(serves bool) *metav1.Condition {
	switch {
	case c.Newer == nil && c.Pending:
		return nil
	case c.Newer == nil:
		return c.Served.Condition()
	}
	refused := Verdict{Err: c.Newer}.Condition()
	switch {
	case !serves:
	case c.Served.Verification != nil:
		refused.Message += fmt.Sprintf("; the content at %s is served, which is %s", c.Served.Verification.Digest, c.Served.Verification)
	}
	return refused
}
