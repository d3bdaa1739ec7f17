package signature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
)

// Config says which policies decide. Without any, every image may be used.
type Config struct {
	// Policy is the file with a policy of our own schema; empty for none.
	Policy string
	// Containers is containers' policy.json; empty for none.
	Containers string
	// ContainersOptional lets Containers be absent, which then is no policy.
	// Once it was there its absence is an error.
	ContainersOptional bool
	// Now replaces the clock in tests.
	Now func() time.Time
}

// ContainersDefault is where container tools have their policy.
const ContainersDefault = "/etc/containers/policy.json"

// Verifier decides by policies. It implements image.Verifier and is safe for
// concurrent use.
type Verifier struct {
	config Config
	cache  cache

	mu      sync.Mutex
	current loaded
	obeyed  bool // whether the containers' policy was there once
}

// New returns a Verifier. The files are read when they are needed, so that a
// change holds from the next request on, and one that cannot be read refuses.
func New(c Config) *Verifier {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Verifier{config: c}
}

// Configured reports whether there is a policy, readable or not.
func (v *Verifier) Configured() bool {
	p, err := v.load()
	return err != nil || p.configured()
}

// Digest identifies the policies as they are now, keys and trusted roots
// included; "" when there is none. The error says why they refuse everything.
func (v *Verifier) Digest() (string, error) {
	p, err := v.load()
	if err != nil || !p.configured() {
		return "", err
	}
	return p.digest, nil
}

func (p *policies) configured() bool { return p.own != nil || p.containers != nil }

// Verify implements image.Verifier.
func (v *Verifier) Verify(ctx context.Context, r image.VerifyRequest) (*image.Verification, error) {
	p, err := v.load()
	if err != nil {
		return nil, unusable(err)
	}
	if !p.configured() {
		return nil, nil
	}
	return v.under(ctx, p, r)
}

// Outright implements image.OutrightVerifier: rules that accept or reject a
// repository do so whatever its tags stand for.
func (v *Verifier) Outright(r image.VerifyRequest) (accepted bool, err error) {
	p, err := v.load()
	if err != nil {
		return false, unusable(err)
	}
	if !p.configured() {
		return true, nil
	}
	if err := misspelt(r); err != nil {
		return false, err
	}
	_, needed, err := weigh(p.requirements(r))
	return err == nil && len(needed) == 0, err
}

// unusable refuses everything under policies that cannot be read, and nothing
// for what it is.
func unusable(err error) error {
	e := refused("correct the file; the change holds at once", "%w", err)
	e.Err = errors.Join(image.ErrUnreadablePolicy, err)
	return e
}

// under verifies an image under policies that were read before, so that a
// catalog and what it covers are judged by the same.
func (v *Verifier) under(ctx context.Context, p *policies, r image.VerifyRequest) (*image.Verification, error) {
	key := fmt.Sprintf("%s %q %s", p.digest, r.Ref, r.Digest)
	if r.NamedBy != nil {
		key += fmt.Sprintf(" %q %q", r.NamedBy.Ref, r.NamedBy.Digest)
	}
	now := v.config.Now()
	if known := v.cache.get(key, now); known != nil {
		return known, nil
	}
	// Apply the rules of both policies.
	if err := misspelt(r); err != nil {
		return nil, err
	}
	covered, requirements, err := v.applicable(ctx, p, r)
	if err != nil {
		return nil, err
	}
	rules, needed, err := weigh(requirements)
	if err != nil {
		return nil, err
	}
	result := &found{image.Verification{Outcome: image.Accepted, Ref: r.Ref, Digest: r.Digest, PolicyDigest: p.digest, Rules: rules}}
	if len(needed) > 0 {
		s := &search{request: r, pending: needed, now: now}
		if err := s.run(ctx); err != nil {
			return nil, err
		}
		result.Outcome, result.Signers, result.Expires = image.Signed, s.signers, s.expires
	}
	if covered != nil {
		// Note the chain: who signed the catalog that names the image. Signatures of its own, which a policy.json requires, say more.
		result.Rules = append(result.Rules, covered.Rules...)
		result.Expires = sooner(result.Expires, covered.Expires)
		if result.Outcome != image.Signed {
			result.Outcome, result.Signers = image.Covered, covered.Signers
			result.Catalog = &image.Origin{Ref: r.NamedBy.Ref, Digest: covered.Digest}
		}
	}
	v.cache.put(key, result)
	return result.clone(), nil
}

// misspelt refuses a repository that rules for it would miss.
func misspelt(r image.VerifyRequest) error {
	as := plain(r.Repository)
	if as == r.Repository {
		return nil
	}
	return refused(fmt.Sprintf("name the image in %s", as), "its repository is written as %s, in which no rule for %s would find it", r.Repository, as)
}

// weigh names the rules of requirements, and returns those that signatures have
// to satisfy. Its error is the refusal of the first that rejects.
func weigh(requirements []*requirement) (rules []string, needed []*requirement, _ error) {
	for _, q := range requirements {
		rules = append(rules, q.rule)
		switch q.action {
		case actionReject:
			return nil, nil, rejected(q)
		case actionVerify:
			needed = append(needed, q)
		}
	}
	return rules, needed, nil
}

func rejected(q *requirement) error {
	switch {
	case q.reason != "":
		return refused("correct the policy", "%s refuses it: %s", q.rule, q.reason)
	case q.byDefault:
		return refused("add a rule for its repository to the policy, if it is to be used", "no rule is for its repository, and the %s is reject", q.rule)
	}
	return refused("correct the policy, if it is to be used", "%s rejects it", q.rule)
}

// refused is the error of an image that may not be used.
func refused(advice, format string, args ...any) *image.Error {
	err := fmt.Errorf(format, args...)
	return &image.Error{Kind: image.Unverified, Reason: strings.Join(strings.Fields(err.Error()), " "), Advice: advice, Err: err}
}

// search reads signatures until all requirements are satisfied.
type search struct {
	request image.VerifyRequest
	pending []*requirement
	now     time.Time

	signers []image.Signer
	expires time.Time

	tried    []string // why signatures do not satisfy, and where none are
	failures []error  // of endpoints that could not be read
}

func (s *search) run(ctx context.Context) error {
	places, err := s.request.Artifacts(s.request.Repository + "@" + s.request.Digest)
	if err != nil {
		return err
	}
	for _, place := range places {
		s.at(place)
		if len(s.pending) == 0 {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	q := s.pending[0]
	// Name who may sign, for messages.
	names := make([]string, len(q.anyOf))
	for i, s := range q.anyOf {
		names[i] = s.String()
	}
	what := "a signature"
	if q.attestation != "" {
		what = "an attestation " + q.attestation + " signed"
	}
	reason := fmt.Sprintf("%s requires %s of %s", q.rule, (what + " by " + strings.Join(names, ", or ")), s.request.Digest)
	notes := slices.Clone(s.tried)
	if len(notes) > maxNotes {
		notes = append(notes[:maxNotes], "and more") // how many is not known: no more are collected
	}
	reason += "; " + strings.Join(notes, "; ")
	if len(s.failures) == 0 {
		return refused("sign that digest as the rule requires, or correct the policy", "%s", reason)
	}
	last := s.failures[len(s.failures)-1]
	return &image.Error{Kind: cmp.Or(image.KindOf(last), image.Unavailable), Reason: reason, Err: last}
}

// at checks one endpoint for all that is pending.
func (s *search) at(place *image.Artifacts) {
	f := &finder{from: place, digest: s.request.Digest, visit: func(c *candidate, err error) bool {
		if err != nil {
			s.note(place.Host + ": a signature cannot be used: " + reasonOf(err))
			return false
		}
		// Try the signature on all that is pending.
		s.pending = slices.DeleteFunc(s.pending, func(q *requirement) bool {
			v, err := q.try(c, s.request, s.now)
			if err != nil {
				s.note(fmt.Sprintf("%s: a signature in a %s does not count: %s", place.Host, c.layout, oneLine(err)))
				return false
			}
			if !slices.Contains(s.signers, v.signer) {
				s.signers = append(s.signers, v.signer)
			}
			s.expires = sooner(s.expires, v.expires)
			return true
		})
		return len(s.pending) == 0
	}}
	for _, attestations := range []bool{false, true} {
		if !slices.ContainsFunc(s.pending, func(q *requirement) bool { return (q.attestation != "") == attestations }) {
			continue
		}
		if _, err := f.find(attestations); err != nil {
			s.failures = append(s.failures, err)
			s.note(fmt.Sprintf("%s could not be read: %s", place.Host, reasonOf(err)))
			return
		}
	}
	if f.tried == 0 && len(s.pending) > 0 {
		s.note(place.Host + ": there is no signature, neither under a signature tag nor as a referring sigstore bundle")
	}
}

// maxNotes bounds what a message lists.
const maxNotes = 4

func (s *search) note(text string) {
	if len(s.tried) <= maxNotes && !slices.Contains(s.tried, text) {
		s.tried = append(s.tried, text)
	}
}

func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
