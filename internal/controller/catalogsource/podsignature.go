package catalogsource

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// verifyTime bounds the verification of an image that is to be run.
const verifyTime = time.Minute

// ranImage is the image that a content was read from, as it was verified before: that of a pod, or one that the manager has read by itself
// before another was to be run.
type ranImage struct {
	Image string
	// Digest is empty where the policy accepts all of Image, or where there was none.
	Digest string
	// Policy identifies the policy that accepted it, until Expires where that is not zero.
	Policy  string
	Expires time.Time
}

// ranBy is the image that the pod of a catalog runs, by what is known of its signatures.
func ranBy(image string, signatures image.Content) ranImage {
	ran := ranImage{Image: image, Digest: signatures.Digest(), Policy: signatures.Decided()}
	if v := signatures.Served.Verification; v != nil {
		ran.Expires = v.Expires
	}
	return ran
}

// keepOrigin sets aside what the manager has read by itself, before the signatures become those of an image that is to run.
func (k *content) keepOrigin() {
	if k.index == nil || k.pod != "" || k.setAside {
		return
	}
	k.ran, k.setAside = ranImage{}, true
	if k.signatures.Image == "" {
		return // no policy is asked about what it was read from
	}
	k.ran = ranBy(k.signatures.Image, k.signatures)
	k.ran.Digest = k.digest
	if k.signatures.Served.Err != nil {
		k.ran.Policy = "" // which has accepted nothing
	}
}

// accepted reports whether the policy of the signatures accepts the image that the content was read from: it is what they are about, or the same policy has
// accepted it before.
func (r ranImage) accepted(signatures image.Content, now time.Time) bool {
	if signatures.Served.Verification == nil {
		return true // no policy applies
	}
	if digest := signatures.Digest(); r.Image == signatures.Image && (digest == "" || r.Digest == digest) {
		return true // without a digest, all of the image is accepted
	}
	return r.Policy == signatures.Decided() && (r.Expires.IsZero() || now.Before(r.Expires))
}

// podVerdict is how the last verification of an image that is to be run ended. Its zero value is that of one which accepted the image.
type podVerdict struct {
	err     error
	at      time.Time
	policy  string
	secrets int
}

// holds reports whether the verdict need not be asked for again yet: nor has the verification of what runs meanwhile come to its end.
func (v podVerdict) holds(source *v1alpha1.CatalogSource, signatures image.Content, seen signs) bool {
	ended := signatures.Served.Verification != nil && signatures.Due(seen.policy, seen.now)
	return !ended && v.err != nil && v.policy == seen.policy && v.secrets == seen.secrets && seen.now.Before(v.at.Add(offerRetry(source, v.err)))
}

// runnable is what the signature policy lets be run for a catalog.
type runnable struct {
	// source is the catalog with the image that its pod is to run; nil while there is none.
	source *v1alpha1.CatalogSource
	// verified says that a policy has accepted that image.
	verified bool
	// err is why the image that the reference stands for now may not be run. An earlier digest may run meanwhile.
	err error
	// again is when to decide once more where neither is set; 0 is once the verification that is under way has ended.
	again time.Duration
	// stop says that the policy refuses what runs, or that nothing is known of what runs but that its image is refused.
	stop bool
}

// runnable decides which image the pod of a catalog may run. Under a signature policy that is the image by the digest that was verified: the
// node, which pulls it, would ask for a tag once more, and may get something else. Only an image of which the policy accepts every digest is
// run as it is named. The registry is asked in the background: while nothing is decided, what runs is left alone.
func (c *Controller) runnable(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known *content, seen signs) runnable {
	if c.verifier == nil || !c.verifier.Verifies() {
		c.verifications.end(ref)
		known.podVerdict = podVerdict{}
		return runnable{source: source}
	}
	err := known.podVerdict.err
	if err != nil || !runs(source, known.signatures, seen) {
		var decided bool
		decided, err = c.judge(ctx, ref, source, known, seen)
		switch {
		case runs(source, known.signatures, seen):
		case !decided:
			return runnable{}
		case err == nil:
			return runnable{again: catalogstore.MinimumPause} // accepted by a policy that came after seen was noted
		default:
			return runnable{err: err, stop: image.Refuses(err) || image.Refuses(known.signatures.Served.Err)}
		}
	}
	run := source
	if v := known.signatures.Served.Verification; v.Outcome != image.Accepted {
		run = source.DeepCopy()
		run.Spec.Image = image.Pin(source.Spec.Image, v.Digest)
	}
	return runnable{source: run, verified: true, err: err}
}

// runs reports whether the signatures are those of an image that a catalog asks for, and may run under the policy as it is now.
func runs(source *v1alpha1.CatalogSource, signatures image.Content, seen signs) bool {
	return signatures.Image == source.Spec.Image && !signatures.Withheld() && signatures.Served.Verification != nil && !signatures.Due(seen.policy, seen.now)
}

// judge decides on the image as its reference stands now. It reports whether that is decided: a verification that takes its time continues in
// the background, and its end lets the catalog be reconciled. One that failed is repeated after a pause.
func (c *Controller) judge(ctx context.Context, ref catalog.Ref, source *v1alpha1.CatalogSource, known *content, seen signs) (bool, error) {
	known.keepOrigin()
	if known.podVerdict.holds(source, known.signatures, seen) {
		return true, known.podVerdict.err
	}
	spec := known.spec + " under policy " + seen.policy
	running := c.verifications.of(ref, spec)
	begins := running == nil
	if begins {
		asked, before := source.DeepCopy(), *known
		running = c.verifications.begin(ctx, ref, spec, seen.secrets, func(ctx context.Context) (reading, error) { return c.pods.judge(ctx, asked, before) })
	}
	if !c.wait(ctx, running, begins) {
		return false, known.podVerdict.err
	}
	c.verifications.end(ref)
	found, err := running.reading, running.err
	known.podVerdict = podVerdict{err: err, at: c.clock.Now(), policy: seen.policy, secrets: running.secrets}
	known.signatures = known.signatures.After(found.signatures, err)
	switch {
	case err == nil:
		known.podVerdict = podVerdict{}
	case found.signatures.Served != nil:
		known.signatures.Image = found.ran.Image
	default: // what a pod has served so far was never verified
		known.signatures.Image, known.signatures.Pending, known.signatures.Served = source.Spec.Image, false, image.Verdict{Err: err}
	}
	return true, err
}

// judge verifies the image that a catalog asks for, and where it is refused what was verified before.
func (p *pods) judge(ctx context.Context, source *v1alpha1.CatalogSource, known content) (reading, error) {
	ctx, cancel := context.WithTimeout(ctx, verifyTime)
	defer cancel()
	attempt := image.BeginAttempt(p.verifier, source.Spec.Image, image.Auth{})
	auth, err := bundleio.PullSecrets(ctx, p.secrets, source.Namespace, source.Spec.Secrets)
	if err != nil {
		err = secretError{err}
	} else {
		attempt.Auth = auth
		err = attempt.Verify(ctx, image.VerifyOptions{Outright: true})
	}
	if err != nil {
		err = fmt.Errorf("verify image %s: %w", source.Spec.Image, err)
	}
	before := known.ran // that the content was read from, where none was verified last
	if known.signatures.Digest() != "" {
		before = ranBy(known.signatures.Image, known.signatures)
	}
	return reading{signatures: attempt.Judgement(ctx, err, image.Content{Image: before.Image}, before.Digest), ran: before}, err
}
