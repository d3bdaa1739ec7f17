package installplan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"
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
	ref := sourceOf(lookup)
	if lookup.CatalogSourceRef == nil || !r.inView(namespace, ref.Namespace) {
		return nil
	}
	served, _ := r.Catalogs.Get(ref)
	if served.Index != nil {
		return nil
	}
	if _, exists, err := r.source(ctx, lookup); !exists || err != nil {
		return err
	}
	absent := "is still being loaded"
	switch {
	case served.Withheld:
		absent = "is withheld until the signature policy accepts it"
	case served.Problem != "":
		absent = "has no content: " + messages.Line(served.Problem, maxProblem)
	}
	return image.Undecided(fmt.Errorf("image %s has no accepted signature of its own, and catalog %s, which may cover it, %s: "+
		"it is verified again once the catalog is served (%s)", lookup.Path, ref, absent, messages.Error(refusal)))
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
