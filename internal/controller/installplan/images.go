package installplan

import (
	"context"
	"errors"
	"fmt"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Images renders bundles from their images, or those that have none from their catalogs. It implements Bundles.
type Images struct {
	Unpacker *bundleio.Unpacker
	// Reader reads CatalogSources and their pull secrets.
	Reader client.Reader
	// Verifier verifies bundles before a plan is carried out; nil for a process without signature policies.
	Verifier image.Images
	// Catalogs are those that are being served.
	Catalogs *catalogstore.Set
	// GlobalNamespace holds the catalogs that every namespace can see. Those of any other namespace than the plan's, and their pull
	// secrets, are none of its business, whatever it says.
	GlobalNamespace string
}

// Steps fetches the bundle that a lookup names.
func (r Images) Steps(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	var groups operatorsv1.OperatorGroupList
	if err := r.Reader.List(ctx, &groups, client.InNamespace(namespace)); err != nil {
		return nil, readAgain(lookup, fmt.Errorf("list the OperatorGroups of namespace %s: %w", namespace, err))
	}
	var policy bundleio.Policy
	if len(groups.Items) == 1 {
		var err error
		if policy, err = bundleio.PolicyOf(groups.Items[0].Annotations); err != nil {
			return nil, readAgain(lookup, err)
		}
	}
	ask := r.fromImage
	if lookup.Path == "" {
		ask = r.fromCatalog
	}
	request, err := ask(ctx, namespace, lookup, policy)
	if err != nil {
		return nil, readAgain(lookup, err)
	}
	state := r.Unpacker.Get(ctx, request, patience)
	if other, has := r.coveredNow(namespace, lookup, request); has && image.IsUnverified(state.Err) {
		state = r.Unpacker.Get(ctx, other, patience)
	}
	if !state.Done() {
		return nil, &fetchError{name: lookup.Identifier, state: state}
	}
	return bundleio.Steps(state.Bundle, namespace, lookup)
}

// readAgain says of a bundle that what it takes to ask for it is not there, such as a pull secret. That is waited out like the bundle
// itself: people create it, and API servers come back.
func readAgain(lookup v1alpha1.BundleLookup, why error) error {
	var waiting *fetchError
	if errors.As(why, &waiting) {
		return why
	}
	return &fetchError{name: lookup.Identifier, awaits: fmt.Sprintf(whyAgain, lookup.Identifier) + messages.Line(why.Error(), maxProblem)}
}

// whyAgain begins what is said of a bundle that is waited for.
const whyAgain = "bundle %s has to be read again, because the content store has lost its manifests: "

// fromImage asks for the image of a bundle. A CatalogSource that is gone leaves no pull secrets, and the image may be had without any.
func (r Images) fromImage(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup, policy bundleio.Policy) (bundleio.Request, error) {
	request := bundleio.Request{Name: lookup.Identifier, Image: lookup.Path, Policy: policy}
	if origin := resolution.OriginOf(lookup); origin != nil {
		request.NamedBy, request.Requested = origin.NamedBy(), origin.Requested
	} else {
		request.NamedBy = r.namedBy(namespace, lookup)
		// The reference that the catalog names the bundle by, which the path of the lookup was resolved from: a signature policy may be about
		// its tag. It is empty where the catalog does not say, or names another image by now.
		if b, _ := r.offered(namespace, lookup); b != nil && !strings.Contains(b.Image, "@") && image.StandsFor(lookup.Path, b.Image) {
			request.Requested = b.Image
		}
	}
	auth, err := r.auth(ctx, namespace, lookup)
	request.Auth = auth
	return request, err
}

// auth has the pull secrets of the CatalogSource that a lookup names, where the namespace sees that.
func (r Images) auth(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) (image.Auth, error) {
	ref := lookup.CatalogSourceRef
	if ref == nil || !r.inView(namespace, ref.Namespace) {
		return image.Auth{}, nil
	}
	source, _, err := r.source(ctx, lookup)
	if err != nil {
		return image.Auth{}, err
	}
	return bundleio.PullSecrets(ctx, r.Reader, ref.Namespace, source.Spec.Secrets)
}

// fromCatalog asks for a bundle as its catalog has it. Whatever is the matter with that is waited out.
func (r Images) fromCatalog(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup, policy bundleio.Policy) (bundleio.Request, error) {
	awaits := func(format string, args ...any) *fetchError {
		return &fetchError{name: lookup.Identifier, awaits: fmt.Sprintf(whyAgain+format, append([]any{lookup.Identifier}, args...)...)}
	}
	if lookup.CatalogSourceRef == nil {
		return bundleio.Request{}, awaits("nothing says which catalog it came from; delete the InstallPlan to have one made that is still wanted")
	}
	ref := sourceOf(lookup)
	if !r.inView(namespace, ref.Namespace) {
		return bundleio.Request{}, awaits("catalog %s, which it is said to be in, is not in view of namespace %s; delete the InstallPlan to have one made that is still wanted", ref, namespace)
	}
	source, exists, err := r.source(ctx, lookup)
	if err != nil {
		return bundleio.Request{}, err
	}
	if !exists {
		gone := awaits("CatalogSource %s, which it is in, does not exist: create it again, or delete the InstallPlan to have one made that is still wanted", ref)
		gone.source = true
		return bundleio.Request{}, gone
	}
	served, _ := r.Catalogs.Get(ref)
	switch b := bundleOf(served.Index, lookup); {
	case served.Index == nil && served.Problem == "":
		return bundleio.Request{}, awaits("catalog %s, which it is in, is still being loaded", ref)
	case served.Index == nil:
		return bundleio.Request{}, awaits("catalog %s, which it is in, has no content: %s", ref, messages.Line(served.Problem, maxProblem))
	case b == nil:
		return bundleio.Request{}, awaits("catalog %s does not have it any more: delete the InstallPlan to have one made that is still wanted", ref)
	default:
		return bundleio.Origin{Namespace: ref.Namespace, Secrets: source.Spec.Secrets, Index: served.Index, Image: served.Image}.Bundle(ctx, r.Reader, b, policy)
	}
}

// inView tells whether a namespace sees the catalogs of another one.
func (r Images) inView(namespace, of string) bool {
	return of == namespace || of == r.GlobalNamespace
}

// source reads the CatalogSource that a lookup names, and tells whether it exists.
func (r Images) source(ctx context.Context, lookup v1alpha1.BundleLookup) (source v1alpha1.CatalogSource, exists bool, _ error) {
	ref := lookup.CatalogSourceRef
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &source)
	if client.IgnoreNotFound(err) != nil {
		return source, false, fmt.Errorf("read CatalogSource %s, from which bundle %s came: %w", sourceOf(lookup), lookup.Identifier, err)
	}
	return source, err == nil, nil
}

func sourceOf(lookup v1alpha1.BundleLookup) catalog.Ref {
	if lookup.CatalogSourceRef == nil {
		return catalog.Ref{}
	}
	return catalog.Ref{Namespace: lookup.CatalogSourceRef.Namespace, Name: lookup.CatalogSourceRef.Name}
}
