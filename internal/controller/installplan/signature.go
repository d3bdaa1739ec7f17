package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/resolve"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Signatures verifies the bundles of plans under the signature policy as it is now.
type Signatures interface {
	// Verify decides of each lookup whether its bundle may be installed. It does so in the background: a state that is neither done nor an
	// error is followed by news, as of a bundle that is fetched.
	Verify(ctx context.Context, namespace string, lookups []v1alpha1.BundleLookup) []bundleio.State
}

// Verify implements Signatures. It waits a moment for what is decided soon.
func (r Images) Verify(ctx context.Context, namespace string, lookups []v1alpha1.BundleLookup) []bundleio.State {
	states := make([]bundleio.State, len(lookups))
	if r.Verifier == nil || !r.Verifier.Verifies() {
		for i := range states {
			states[i].Judged = true
		}
		return states
	}
	requests := make([]*bundleio.Request, len(lookups))
	for i, lookup := range lookups { // start all of them before waiting for any
		requests[i], states[i].Err = r.judgement(ctx, namespace, lookup)
		states[i].Judged = states[i].Err == nil
		if requests[i] != nil {
			r.Unpacker.Get(ctx, *requests[i], 0)
		}
	}
	soon, cancel := context.WithTimeout(ctx, patience) // for all of them together
	defer cancel()
	for i, request := range requests {
		if request != nil {
			states[i] = r.verdict(ctx, soon, namespace, lookups[i], *request)
		}
	}
	return states
}

// verdict is what is decided on a lookup until soon ends. A bundle that the catalog which the plan was made from does not cover may be covered by what
// that catalog is now; while it has no content, nothing is decided.
func (r Images) verdict(ctx, soon context.Context, namespace string, lookup v1alpha1.BundleLookup, request bundleio.Request) bundleio.State {
	state := r.Unpacker.Get(soon, request, patience)
	if !image.IsUnverified(state.Err) || request.Requested != "" { // no catalog covers what it names by a tag
		return state
	}
	if other, has := r.coveredNow(namespace, lookup, request); has {
		return r.Unpacker.Get(soon, other, patience)
	}
	if undecided := r.coverable(ctx, namespace, lookup, state.Err); undecided != nil {
		return bundleio.State{Err: undecided} // which waits for the catalog, and not for what the refusal waits for
	}
	return state
}

// coveredNow is the request for a bundle as its catalog is served now; false where that names it no more, or is what the request has already.
func (r Images) coveredNow(namespace string, lookup v1alpha1.BundleLookup, request bundleio.Request) (bundleio.Request, bool) {
	now := r.namedBy(namespace, lookup)
	if now == nil || request.Image == "" || request.Requested != "" || request.NamedBy != nil && *request.NamedBy == *now {
		return request, false
	}
	request.NamedBy = now
	return request, true
}

// judgement is what is asked about a lookup; nil where there is nothing that could be signed.
func (r Images) judgement(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) (*bundleio.Request, error) {
	if lookup.Path != "" {
		request, err := r.fromImage(ctx, namespace, lookup, bundleio.Policy{Timeout: verifyTime})
		if err != nil {
			return nil, err
		}
		request.Judge = true
		return &request, nil
	}
	origin := resolution.OriginOf(lookup)
	if origin == nil || origin.Catalog == nil {
		return nil, r.unrecorded(ctx, namespace, lookup)
	}
	if origin.Catalog.Ref == "" {
		return nil, nil
	}
	auth, err := r.auth(ctx, namespace, lookup)
	if err != nil {
		return nil, err
	}
	return &bundleio.Request{Name: lookup.Identifier, NamedBy: origin.Catalog, Auth: auth, Judge: true, Policy: bundleio.Policy{Timeout: verifyTime}}, nil
}

// unrecorded is why nothing is decided on manifests of which it is not recorded what they were read from; nil where that has no signatures.
func (r Images) unrecorded(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) error {
	const advice = "delete the InstallPlan to have one made that is still wanted"
	if lookup.CatalogSourceRef == nil || lookup.CatalogSourceRef.Name == "" {
		return image.Undecided(fmt.Errorf("nothing says which catalog it came from; %s", advice))
	}
	if !r.inView(namespace, lookup.CatalogSourceRef.Namespace) {
		return image.Undecided(fmt.Errorf("CatalogSource %s, which it is said to come from, is not in view of namespace %s; %s", sourceOf(lookup), namespace, advice))
	}
	source, exists, err := r.source(ctx, lookup)
	switch {
	case err != nil:
		return image.Undecided(err)
	case !exists:
		return image.Undecided(fmt.Errorf("CatalogSource %s, which it came from, does not exist; %s", sourceOf(lookup), advice))
	case source.Spec.Image != "":
		return image.Undecided(fmt.Errorf("it is not recorded which image of CatalogSource %s it came from; %s", sourceOf(lookup), advice))
	}
	return nil
}

// coverable is why nothing is decided on an image that is refused: the catalog of its bundle, which may cover it, is withheld or not loaded. It is nil
// where the catalog is served, or does not exist.
func (r Images) coverable(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup, refusal error) error {
	if lookup.Path == "" {
		return nil
	}
	absent, err := r.catalogAbsent(ctx, namespace, lookup)
	switch {
	case err != nil:
		return err
	case absent != "":
		return image.Undecided(fmt.Errorf("image %s has no accepted signature of its own, and catalog %s, which may cover it, %s: "+
			"it is verified again once the catalog is served (%s)", lookup.Path, sourceOf(lookup), absent, messages.Error(refusal)))
	}
	return nil
}

// catalogAbsent says why the content of the catalog that a bundle came from is not there now; empty where it is, or never will be.
func (r Images) catalogAbsent(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) (string, error) {
	ref := sourceOf(lookup)
	if lookup.CatalogSourceRef == nil || !r.inView(namespace, ref.Namespace) {
		return "", nil
	}
	served, _ := r.Catalogs.Get(ref)
	if served.Index != nil {
		return "", nil
	}
	if _, exists, err := r.source(ctx, lookup); !exists || err != nil {
		return "", err
	}
	if served.Withheld {
		return "is withheld until the signature policy accepts it", nil
	}
	if served.Problem != "" {
		return "has no content: " + resolve.Tidy(served.Problem, maxProblem), nil
	}
	return "is still being loaded", nil
}

// requested is the reference that the catalog names the bundle of a lookup by, which the path of the lookup was resolved from: a signature
// policy may be about its tag. It is for lookups that do not record it, and empty where the catalog does not say, or names another image by now.
func (r Images) requested(namespace string, lookup v1alpha1.BundleLookup) string {
	b, _ := r.offered(namespace, lookup)
	if b != nil && !strings.Contains(b.Image, "@") && image.StandsFor(lookup.Path, b.Image) {
		return b.Image
	}
	return ""
}

// namedBy is the catalog image that names the bundle of a lookup by its digest, as the catalog is served now. That a lookup refers to a
// catalog proves nothing: the catalog has to have the bundle.
func (r Images) namedBy(namespace string, lookup v1alpha1.BundleLookup) *image.Origin {
	b, served := r.offered(namespace, lookup)
	if b == nil || served.Image == "" {
		return nil
	}
	_, named, _ := strings.Cut(b.Image, "@")
	if _, digest, _ := strings.Cut(lookup.Path, "@"); named == "" || named != digest {
		return nil
	}
	return &image.Origin{Ref: served.Image, Digest: served.Index.Digest()}
}

// offered is the bundle of a lookup in its catalog, as that is served now; nil where it has none, or is not in view.
func (r Images) offered(namespace string, lookup v1alpha1.BundleLookup) (*catalog.BundleInfo, catalogstore.Entry) {
	ref := sourceOf(lookup)
	if lookup.CatalogSourceRef == nil || !r.inView(namespace, ref.Namespace) {
		return nil, catalogstore.Entry{}
	}
	served, _ := r.Catalogs.Get(ref)
	return bundleOf(served.Index, lookup), served
}

// verifyTime bounds one attempt to verify a bundle.
const verifyTime = 20 * time.Second

// unknownPause is the time between two looks at a plan on which nothing can be decided, because it does not say what it was made of.
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
	if x.begun() {
		return true
	}
	x.signatures = map[string]image.Verdict{}
	lookups := x.origins()
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
			x.await(&fetchError{name: name, awaits: fmt.Sprintf("the signatures of bundle %s are being verified", name)})
			x.unverified = max(x.unverified, beingVerified)
		}
	}
	if x.unverified > accepted {
		return false
	}
	x.pin()
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

// pin has the manifests of bundles that the plan names by a tag read by the digest that was verified. Those that were read before are read again.
func (x *verifier) pin() {
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
}

// await has the first step that is due wait for a bundle.
func (x *verifier) await(e *fetchError) {
	x.manifests.note(e)
	if i := slices.IndexFunc(x.steps, func(s *stepRun) bool { return s.due }); i >= 0 {
		x.steps[i].result.waiting = strings.TrimPrefix(x.steps[i].result.waiting+"; "+e.awaits, "; ")
	}
}

// origins are the lookups of a plan, and for steps that are due and have none what is known of where they came from.
func (x *verifier) origins() []v1alpha1.BundleLookup {
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
	return lookups
}

// begun reports whether an earlier pass has created an object, or waits for the API server to know one, and the plan has not failed since. What is
// Present may have been there before the plan was made.
func (x *verifier) begun() bool {
	if x.plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed || x.plan.Status.StartTime == nil {
		return false
	}
	return hasStep(x.plan, func(s *v1alpha1.Step) bool {
		return s.Status == v1alpha1.StepStatusCreated || s.Status == v1alpha1.StepStatusWaitingForAPI
	})
}

// begin finds out whether a plan that waited may begin: the policy may still refuse what it installs.
func (x *execution) begin(ctx context.Context, c *Controller) outcome {
	x.takeStock(ctx)
	if x.left {
		x.verifier.verify(ctx, c)
	}
	return x.outcome()
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
