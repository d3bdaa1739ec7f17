package bundleio

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Origin is the catalog that a bundle comes from.
type Origin struct {
	Namespace string
	Secrets   []string // the names of the pull secrets of a CatalogSource
	Index     *catalog.Index
	// Image is the reference that Index was read by; empty for a catalog of another origin. A signature on it can cover its bundles.
	Image string
	// ByCatalog is that of the requests for its bundles.
	ByCatalog bool
}

// CatalogImage is the image that the catalog was read from. Its Ref is empty for a catalog of another origin.
func (o Origin) CatalogImage() image.Origin {
	return image.Origin{Ref: o.Image, Digest: o.Index.Digest()}
}

// Bundle is the request for a bundle of the catalog, with the pull secrets that the CatalogSource names.
func (o Origin) Bundle(ctx context.Context, reader client.Reader, b *catalog.BundleInfo, p Policy) (Request, error) {
	r := Request{Name: b.Name, Image: b.Image, Policy: p, ByCatalog: o.ByCatalog}
	if o.Image != "" && o.Index != nil {
		named := o.CatalogImage()
		r.NamedBy = &named
	}
	if r.Image == "" {
		r.Content = o.Index.Digest()
		r.Manifests = func() ([]json.RawMessage, error) { return o.Index.Manifests(b) }
	}
	if r.Image == "" && r.NamedBy == nil {
		return r, nil // no registry is asked for anything
	}
	auth, err := PullSecrets(ctx, reader, o.Namespace, o.Secrets)
	r.Auth = auth
	return r, err
}

// slowAfter is when an attempt is called slow and how far it has come is told. It is told again each time that it has taken twice as
// long: people want to see that something happens, and a status that changes all the time is a burden to the cluster.
const slowAfter = 5 * time.Second

// progress is how many bytes of a bundle have been read.
type progress struct{ read, total atomic.Int64 }

func (p *progress) note(read, total int64) {
	p.read.Store(read)
	p.total.Store(total)
}

// String tells it, e.g. "1.5 of 20.0 MiB".
func (p *progress) String() string {
	const mib = 1 << 20
	read, total := p.read.Load(), p.total.Load()
	if total <= 0 {
		return "nothing has been read yet"
	}
	return fmt.Sprintf("%.1f of %.1f MiB", float64(read)/mib, float64(total)/mib)
}

// watch tells how far an attempt has come as long as it runs. A slow one makes room for others.
func (u *Unpacker) watch(j *job, p *progress, running <-chan struct{}, free func()) {
	for elapsed, wait := slowAfter, slowAfter; ; elapsed, wait = 2*elapsed, elapsed {
		select {
		case <-running:
			return
		case <-u.clock.After(wait):
		}
		u.mu.Lock()
		select {
		case <-running: // it has ended meanwhile, and its result stands
			u.mu.Unlock()
			return
		default:
		}
		j.state.Slow = fmt.Sprintf("%s after %s", p, elapsed)
		u.mu.Unlock()
		free() // the one who gets the room finds the attempt called slow
		u.notify()
	}
}

// Steps renders a bundle once more as the InstallPlan of a namespace did that recorded it by a lookup: the manifests are the same, byte
// for byte, as long as the bundle is.
func Steps(b *bundle.Bundle, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	var record struct {
		Properties []catalog.Property `json:"properties"`
	}
	if lookup.Properties != "" {
		if err := json.Unmarshal([]byte(lookup.Properties), &record); err != nil {
			return nil, fmt.Errorf("read the properties of bundle %s: %w", lookup.Identifier, err)
		}
	}
	return bundle.PlanSteps(b, bundle.StepTarget{Namespace: namespace, Replaces: lookup.Replaces, Properties: record.Properties})
}

// LookupOf says where the bundle of a step comes from, and false if nothing says it.
func LookupOf(plan *v1alpha1.InstallPlan, step *v1alpha1.Step) (v1alpha1.BundleLookup, bool) {
	for _, lookup := range plan.Status.BundleLookups {
		if lookup.Identifier == step.Resolving {
			return lookup, true
		}
	}
	foreign, is := ParseForeign(step.Resource.Manifest)
	return v1alpha1.BundleLookup{
		Identifier: step.Resolving, Replaces: foreign.Replaces, Properties: foreign.Properties,
		CatalogSourceRef: &corev1.ObjectReference{Namespace: foreign.CatalogSourceNamespace, Name: foreign.CatalogSourceName},
	}, is
}
