package signature

import (
	"context"
	"errors"
	"fmt"

	"github.com/distribution/reference"

	"fairlead.dev/fairlead/internal/content/image"
)

// applicable returns what must be satisfied for an image. When the signature on
// the catalog that names the image covers it, the rule of our own policy is
// satisfied by that, and covered is the verification of the catalog.
//
// The requirements of a policy.json are never covered: that file knows no
// catalogs, and is obeyed as it is written.
func (v *Verifier) applicable(ctx context.Context, p *policies, r image.VerifyRequest) (covered *image.Verification, all []*requirement, err error) {
	if p.own == nil {
		return nil, p.requirements(r), nil
	}
	own := p.own.rule(r.Repository)
	catalogRule := coveringRule(p, r, own)
	if catalogRule == nil {
		return nil, p.requirements(r), nil
	}
	if p.containers != nil {
		all = append(all, p.containers.requirements(r.Ref, r.Repository)...)
	}
	covered, err = v.catalog(ctx, p, r)
	switch {
	case err == nil && covered.Outcome == image.Signed:
		return covered, all, nil
	case own.action == actionVerify:
		return nil, append(all, own), nil // its own signature is as good
	case err == nil:
		return nil, append(all, own), nil
	}
	// Only the catalog could vouch for the image. What could not be decided stays so, as where the time was over.
	kind := image.KindOf(err)
	if kind == "" && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil, nil, err
	}
	reason := fmt.Sprintf("it has no rule of its own, and the catalog %s at %s that names it does not satisfy %s: %s",
		r.NamedBy.Ref, r.NamedBy.Digest, catalogRule.rule, reasonOf(err))
	if kind != "" && kind != image.Unverified {
		return nil, nil, &image.Error{Kind: kind, Reason: reason, Err: err}
	}
	return nil, nil, refused("sign the catalog, or add a rule for the repository of the image to the policy", "%s", reason)
}

// requirements are those of an image that no catalog covers.
func (p *policies) requirements(r image.VerifyRequest) (all []*requirement) {
	if p.containers != nil {
		all = append(all, p.containers.requirements(r.Ref, r.Repository)...)
	}
	if p.own != nil {
		all = append(all, p.own.rule(r.Repository))
	}
	return all
}

// coveringRule returns the rule of the catalog when a signature that satisfies
// it covers the image: the image is named by digest, the rule is to cover, and
// no other rule is for the image itself.
func coveringRule(p *policies, r image.VerifyRequest, own *requirement) *requirement {
	if r.NamedBy == nil || r.Tag != "" || own.action == actionAccept {
		return nil
	}
	named, err := reference.ParseNormalizedNamed(r.NamedBy.Ref)
	if err != nil {
		return nil
	}
	q := p.own.rule(named.Name())
	if q.action != actionVerify || !q.covers || !own.byDefault && own != q {
		return nil
	}
	return q
}

// catalog verifies the catalog that names the image, by the digest that it had
// when it was read.
func (v *Verifier) catalog(ctx context.Context, p *policies, r image.VerifyRequest) (*image.Verification, error) {
	named, err := reference.ParseNormalizedNamed(r.NamedBy.Ref)
	if err != nil {
		return nil, err
	}
	named = reference.TagNameOnly(named)
	c := image.VerifyRequest{Ref: named.String(), Repository: named.Name(), Digest: r.NamedBy.Digest, Artifacts: r.Artifacts}
	if canonical, ok := named.(reference.Canonical); ok {
		// A tag beside a digest is a remark, as for the image package.
		c.Ref = named.Name() + "@" + canonical.Digest().String()
		if canonical.Digest().String() != r.NamedBy.Digest {
			return nil, fmt.Errorf("catalog %s has another digest than %s, which is said to name the image", r.NamedBy.Ref, r.NamedBy.Digest)
		}
	} else if tagged, ok := named.(reference.Tagged); ok {
		c.Tag = tagged.Tag()
	}
	return v.under(ctx, p, c)
}

// reasonOf is the reason of an error for a message about something larger.
func reasonOf(err error) string {
	var e *image.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return oneLine(err)
}
