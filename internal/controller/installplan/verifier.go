package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// unknownPause is the time between two checks of a plan on which nothing can be decided, because it does not say what it was made of.
const unknownPause = time.Minute

// verifier verifies the bundles of a plan before anything of it is written.
type verifier struct {
	*pass
	signatures map[string]image.Verdict // on the bundles that were verified, by ClusterServiceVersion
	unverified verification             // what keeps the plan from beginning
}

// verify verifies the bundles of a plan before anything of it is written: the policy may be another since the plan was made, as where it waits
// for approval. What has begun is finished, unless the plan has failed meanwhile. It reports whether the pass may continue, with the lookups pinned to
// what was verified.
func (x *verifier) verify(ctx context.Context, c *Controller) bool {
	// The plan has begun where an earlier pass has created an object, or waits for the API server to know one, and the plan has not failed since. What
	// is Present may have been there before the plan was made.
	begun := func(s *v1alpha1.Step) bool {
		return s.Status == v1alpha1.StepStatusCreated || s.Status == v1alpha1.StepStatusWaitingForAPI
	}
	if status := &x.plan.Status; status.Phase != v1alpha1.InstallPlanPhaseFailed && status.StartTime != nil && slices.ContainsFunc(status.Plan, begun) {
		return true
	}
	x.signatures = map[string]image.Verdict{}
	// The lookups of a plan, and for steps that are due and have none what is known of where they came from.
	lookups := slices.Clone(x.plan.Status.BundleLookups)
	for _, s := range x.steps {
		known := func(l v1alpha1.BundleLookup) bool { return l.Identifier == s.step.Resolving }
		if !s.due || s.step.Resource.Kind == secretKind || slices.ContainsFunc(lookups, known) {
			continue // a pull secret is copied from the namespace of the manager
		}
		lookup, found := bundleio.LookupOf(x.plan, s.step)
		if r := s.step.Resource; !found {
			lookup = v1alpha1.BundleLookup{Identifier: s.step.Resolving, CatalogSourceRef: &corev1.ObjectReference{Namespace: r.CatalogSourceNamespace, Name: r.CatalogSource}}
		}
		lookups = append(lookups, lookup)
	}
	states := make([]bundleio.State, len(lookups))
	if c.Signatures != nil {
		states = c.Signatures.Verify(ctx, x.plan.Namespace, lookups)
	}
	for i, state := range states {
		name := lookups[i].Identifier
		if v := verdictOf(state); v.Verification != nil || v.Err != nil || state.Done() || c.Signatures == nil {
			x.signatures[name] = v
		}
		switch {
		case c.Signatures == nil:
		case state.Err != nil:
			x.refuse(c, name, state)
		case !state.Done():
			e := &fetchError{name: name, awaits: fmt.Sprintf("the signatures of bundle %s are being verified", name)}
			x.manifests.note(e)
			if i := slices.IndexFunc(x.steps, func(s *stepRun) bool { return s.due }); i >= 0 {
				x.steps[i].result.waiting = strings.TrimPrefix(x.steps[i].result.waiting+"; "+e.awaits, "; ")
			}
			x.unverified = max(x.unverified, beingVerified)
		}
	}
	if x.unverified > accepted {
		return false
	}
	// Have the manifests of bundles that the plan names by a tag read by the digest that was verified. Those that were read before are read again.
	plan := *x.plan
	plan.Status.BundleLookups = slices.Clone(plan.Status.BundleLookups)
	for i, l := range plan.Status.BundleLookups {
		v := x.signatures[l.Identifier].Verification
		if v == nil {
			continue
		}
		if pinned := resolution.PinLookup(l, v.Digest); pinned.Path != l.Path {
			plan.Status.BundleLookups[i] = pinned
			delete(x.manifests.again, l.Identifier)
			delete(x.manifests.missing, l.Identifier)
		}
	}
	x.manifests.plan = &plan
	return true
}

// verification is how far that of the bundles of a plan has come which has not begun; of several the greatest counts.
type verification int

const (
	accepted      verification = iota // or nothing had to be verified
	beingVerified                     // in the background
	notDecided                        // it ended without a decision
	notAccepted                       // the policy refuses a bundle
)

// refuse notes why a bundle is not installed.
func (x *verifier) refuse(c *Controller, name string, state bundleio.State) {
	if state.RetryAt.IsZero() {
		pause := retrySecrets
		if image.IsUndecided(state.Err) {
			pause = unknownPause
		}
		state.RetryAt = c.Clock.Now().Add(pause)
	}
	decided := notDecided
	if image.IsUnverified(state.Err) {
		decided = notAccepted
	}
	x.unverified = max(x.unverified, decided)
	state.Err = fmt.Errorf("verify bundle %s before it is installed: %w", name, state.Err)
	x.manifests.note(&fetchError{name: name, state: state})
	if x.err == nil {
		x.err = state.Err
	}
}

// unverifiedStatus is the status of a plan that the verification of its bundles keeps from being carried out, where that differs from the one of a
// plan that is retried: one that the policy refuses has not begun, so that another may take its place, and one that has failed stays so.
func unverifiedStatus(old *planStatus, next planStatus, done outcome, now time.Time) planStatus {
	switch {
	case done.unverified == accepted:
	case old.Phase == v1alpha1.InstallPlanPhaseFailed:
		next = *old.DeepCopy()
		concludeSignatures(&next, done, now)
		if next.Message, _, _ = strings.Cut(old.Message, notRetried); done.err != nil {
			next.Message += notRetried + done.err.Error()
		}
	case done.unverified == notAccepted:
		next = held(old, next, refusedPrefix+done.err.Error(), now)
		next.StartTime = nil
	case isHeld(old):
		next.StartTime, next.Conditions = nil, slices.Clone(old.Conditions)
	}
	return next
}

// verifyFailed returns when a failed plan that is to be retried is verified again; 0 is not before something else lets it be retried.
func (c *Controller) verifyFailed(key types.NamespacedName, done outcome) time.Duration {
	if done.unverified == notAccepted {
		return 0
	}
	c.memory.nudge(key)
	if at := done.refetch(); !at.IsZero() {
		return max(at.Sub(c.Clock.Now()), time.Second)
	}
	return longestPause
}

// notRetried begins what the message of a failed plan says of its signatures, after why it failed.
const notRetried = "; it is not retried: "

// refusedPrefix begins the message of a plan that the signature policy refuses.
const refusedPrefix = "nothing of it is installed until the signature policy accepts all its bundles, or another InstallPlan takes its place: "

// concludeSignatures reports of each bundle what was found out about its signatures; of the others, what was reported before stays. Where no policy
// applies any more, nothing is reported. A bundle that the plan names by a tag, as those of other implementations do, is from then on the one that was
// verified.
func concludeSignatures(next *planStatus, done outcome, now time.Time) {
	for i := range next.BundleLookups {
		l := &next.BundleLookups[i]
		verdict, known := done.signatures[l.Identifier]
		if !known {
			continue
		}
		if v := verdict.Verification; v != nil && verdict.Err == nil {
			*l = resolution.PinLookup(*l, v.Digest)
		}
		var reported []v1alpha1.BundleLookupCondition
		if c := resolution.SignatureCondition(verdict); c != nil {
			reported = append(reported, *c)
		}
		setConditions(l, reported, metav1.NewTime(now), v1alpha1.BundleLookupSignatureVerified)
	}
}
