package installplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/unpack"
)

// Manifests returns the manifest behind the text of a step, and what a step should hold for a manifest. The error of the former wraps
// unpack.ErrMissing when the manifest is lost.
type Manifests interface {
	Resolve(ctx context.Context, text string) ([]byte, error)
	Refer(ctx context.Context, manifest []byte) (string, error)
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
	missing map[string]unpack.State  // bundles that are not there to be rendered, by ClusterServiceVersion
}

// resolve returns the manifest of a step.
func (m *manifests) resolve(ctx context.Context, step *v1alpha1.Step) ([]byte, error) {
	text, err := m.Resolve(ctx, step.Resource.Manifest)
	if err == nil {
		return text, nil
	}
	if !errors.Is(err, unpack.ErrMissing) || m.bundles == nil {
		return nil, fmt.Errorf("read the manifest of %s %s: %w", step.Resource.Kind, step.Resource.Name, err)
	}
	steps, err := m.render(ctx, step.Resolving)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if s.Kind == step.Resource.Kind && s.Object.GetName() == step.Resource.Name {
			return json.Marshal(s.Object)
		}
	}
	return nil, fmt.Errorf("read the manifest of %s %s: the content store has lost it, and bundle %s does not hold it; delete the InstallPlan to have it made anew",
		step.Resource.Kind, step.Resource.Name, step.Resolving)
}

func (m *manifests) render(ctx context.Context, csv string) ([]bundle.Step, error) {
	if steps, ok := m.again[csv]; ok {
		return steps, nil
	}
	for _, lookup := range m.plan.Status.BundleLookups {
		if lookup.Identifier != csv {
			continue
		}
		steps, err := m.bundles.Steps(ctx, m.plan.Namespace, lookup)
		var fetching *fetchError
		if errors.As(err, &fetching) {
			if m.missing == nil {
				m.missing = map[string]unpack.State{}
			}
			m.missing[csv] = fetching.state
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
	return nil, fmt.Errorf("render bundle %s again, because the content store has lost its manifests: the InstallPlan does not say where it came from; delete it to have it made anew", csv)
}
