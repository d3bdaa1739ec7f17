package installplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/bundleio"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Manifests returns the manifest behind the text of a step, and what a step should hold for a manifest. The error of the former wraps
// bundleio.ErrMissing when the manifest is lost.
type Manifests interface {
	Resolve(ctx context.Context, text string) ([]byte, error)
	Refer(ctx context.Context, manifest []byte) (string, error)
	Store(ctx context.Context, manifest []byte) (string, error)
}

// Bundles gives the steps of a bundle that a plan was made from once more. Its error is a *fetchError while the bundle is not there.
type Bundles interface {
	Steps(ctx context.Context, namespace string, lookup v1alpha1.BundleLookup) ([]bundle.Step, error)
}

// manifests are those of one plan.
type manifests struct {
	Manifests
	bundles Bundles
	plan    *v1alpha1.InstallPlan
	again   map[string][]bundle.Step // the steps of bundles that had to be rendered again, by ClusterServiceVersion
	missing map[string]*fetchError   // bundles that are not there to be rendered, by ClusterServiceVersion
}

// resolve returns the manifest of a step.
func (m *manifests) resolve(ctx context.Context, step *v1alpha1.Step) ([]byte, error) {
	text, err := m.Resolve(ctx, step.Resource.Manifest)
	if err == nil {
		return text, nil
	}
	if !errors.Is(err, bundleio.ErrMissing) || m.bundles == nil {
		return nil, fmt.Errorf("read the manifest of %s %s: %w", step.Resource.Kind, step.Resource.Name, err)
	}
	lookup, found := bundleio.LookupOf(m.plan, step)
	if !found {
		return nil, fmt.Errorf("render bundle %s again, because the content store has lost its manifests: the InstallPlan does not say where it came from; delete it to have it recreated", step.Resolving)
	}
	steps, err := m.render(ctx, lookup)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if s.Kind == step.Resource.Kind && s.Object.GetName() == step.Resource.Name {
			// Make sure that the manifest is what was approved, where that is known: an image is known by its digest, but catalogs change.
			manifest, err := json.Marshal(s.Object)
			if err != nil {
				return nil, fmt.Errorf("encode %s %s of bundle %s: %w", s.Kind, s.Object.GetName(), step.Resolving, err)
			}
			ref, known := bundleio.ParseReference(step.Resource.Manifest)
			if lookup.Path == "" && known && ref.Digest != bundleio.Digest(manifest) {
				return nil, m.await(step.Resolving, fmt.Sprintf("bundle %s has to be read again, because the content store has lost its manifests: "+
					"catalog %s has another one of that name by now, which is not what the InstallPlan was made for: delete the InstallPlan to have one made that is still wanted",
					step.Resolving, sourceOf(lookup)))
			}
			return manifest, nil
		}
	}
	if _, foreign := bundleio.ParseForeign(step.Resource.Manifest); foreign || lookup.Path == "" {
		return nil, m.await(step.Resolving, fmt.Sprintf("bundle %s is not the one that the InstallPlan was made for: it does not hold %s %s; delete the InstallPlan to have one made that is still wanted",
			step.Resolving, step.Resource.Kind, step.Resource.Name))
	}
	return nil, fmt.Errorf("read the manifest of %s %s: the content store has lost it, and bundle %s does not hold it; delete the InstallPlan to have it recreated",
		step.Resource.Kind, step.Resource.Name, step.Resolving)
}

// await notes that a bundle has to be waited for, and returns that as an error.
func (m *manifests) await(csv, text string) error {
	waiting := &fetchError{name: csv, awaits: text}
	m.note(waiting)
	return waiting
}

func (m *manifests) note(e *fetchError) {
	if m.missing == nil {
		m.missing = map[string]*fetchError{}
	}
	m.missing[e.name] = e
}

func (m *manifests) render(ctx context.Context, lookup v1alpha1.BundleLookup) ([]bundle.Step, error) {
	csv := lookup.Identifier
	if steps, ok := m.again[csv]; ok {
		return steps, nil
	}
	if waiting := m.missing[csv]; waiting != nil {
		return nil, waiting // asked for already in this pass
	}
	steps, err := m.bundles.Steps(ctx, m.plan.Namespace, lookup)
	var fetching *fetchError
	if errors.As(err, &fetching) {
		m.note(fetching)
		if fetching.awaits != "" {
			return nil, err
		}
	}
	if err != nil {
		return nil, fmt.Errorf("render bundle %s again, because the content store has lost its manifests: %w", csv, err)
	}
	if m.again == nil {
		m.again = map[string][]bundle.Step{}
	}
	m.again[csv] = steps
	return steps, nil
}

// checkPullSecret returns an error when no catalog of the plan in the global namespace names a Secret as its pull secret.
func (x *stepWriter) checkPullSecret(ctx context.Context, name string) error {
	for _, catalog := range x.plan.Status.CatalogSources {
		source := &v1alpha1.CatalogSource{}
		err := x.Live.Get(ctx, client.ObjectKey{Namespace: x.secrets, Name: catalog}, source)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("copy pull secret %s/%s: read CatalogSource %s/%s, which may name it: %w", x.secrets, name, x.secrets, catalog, err)
		}
		if err == nil && slices.Contains(source.Spec.Secrets, name) {
			return nil
		}
	}
	return fmt.Errorf("copy pull secret %s/%s: no catalog of the plan in namespace %s names it in spec.secrets; add it there, or remove the step from status.plan", x.secrets, name, x.secrets)
}
