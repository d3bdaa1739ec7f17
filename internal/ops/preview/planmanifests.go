package preview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/bundleio"

	"sigs.k8s.io/yaml"
)

// Bundles gives the bundle that a lookup names.
type Bundles func(ctx context.Context, lookup v1alpha1.BundleLookup) (*bundle.Bundle, error)

// AddManifests sets the Object of each step. Those that the plan only refers to are rendered again from their bundles, as the manager
// does when it has lost them. One that is known by its digest must have that digest: what is shown is what was approved.
func (v *PlanView) AddManifests(ctx context.Context, p *v1alpha1.InstallPlan, bundles Bundles) error {
	r := renderer{plan: p, bundles: bundles, steps: map[string][]bundle.Step{}}
	for i := range v.Operators {
		for j := range v.Operators[i].Steps {
			s := &v.Operators[i].Steps[j]
			manifest, err := r.manifest(ctx, p.Status.Plan[s.Index])
			if err != nil {
				return fmt.Errorf("show the manifest of %s %s: %w", s.Kind, s.Name, err)
			}
			if len(manifest) == 0 {
				continue // a pull secret is copied when the plan is carried out
			}
			if err := json.Unmarshal(manifest, &s.Object); err != nil {
				return fmt.Errorf("show the manifest of %s %s: %w", s.Kind, s.Name, err)
			}
		}
	}
	return nil
}

// renderer renders each bundle of a plan once.
type renderer struct {
	plan    *v1alpha1.InstallPlan
	bundles Bundles
	steps   map[string][]bundle.Step // by ClusterServiceVersion
}

func (r *renderer) manifest(ctx context.Context, step *v1alpha1.Step) ([]byte, error) {
	ref, kept := bundleio.ParseReference(step.Resource.Manifest)
	_, foreign := bundleio.ParseForeign(step.Resource.Manifest)
	if !kept && !foreign {
		return []byte(step.Resource.Manifest), nil
	}
	steps, err := r.render(ctx, step)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		if s.Kind != step.Resource.Kind || s.Object.GetName() != step.Resource.Name {
			continue
		}
		manifest, err := json.Marshal(s.Object)
		if err != nil {
			return nil, fmt.Errorf("encode it: %w", err)
		}
		if got := bundleio.Digest(manifest); kept && got != ref.Digest {
			return nil, fmt.Errorf("bundle %s is not the one that the InstallPlan was made for: its manifest has digest %s, and the plan names %s", step.Resolving, got, ref.Digest)
		}
		return manifest, nil
	}
	return nil, fmt.Errorf("bundle %s is not the one that the InstallPlan was made for: it does not hold this object", step.Resolving)
}

func (r *renderer) render(ctx context.Context, step *v1alpha1.Step) ([]bundle.Step, error) {
	if steps, ok := r.steps[step.Resolving]; ok {
		return steps, nil
	}
	lookup, known := bundleio.LookupOf(r.plan, step)
	if !known {
		lookup.Identifier = step.Resolving
	}
	b, err := r.bundles(ctx, lookup)
	if err != nil {
		return nil, err
	}
	if b.Name != step.Resolving {
		return nil, fmt.Errorf("image %s holds ClusterServiceVersion %s, and the InstallPlan says that it is bundle %s", lookup.Path, b.Name, step.Resolving)
	}
	steps, err := bundleio.Steps(b, r.plan.Namespace, lookup)
	r.steps[step.Resolving] = steps
	return steps, err
}

// WriteManifests prints the objects of the steps, each as a document of YAML after a line that says which step it is.
func (v PlanView) WriteManifests(w io.Writer) error {
	var b strings.Builder
	for _, o := range v.Operators {
		for _, s := range o.Steps {
			b.WriteString("---\n")
			line(&b, "# ", fmt.Sprintf("step %d of InstallPlan %s/%s, for %s: %s %s %s", s.Index, v.Namespace, v.Name, cmp.Or(o.Name, "no operator"), s.Kind, s.Name, s.Status))
			if s.Object == nil {
				why := "# the plan has no manifest of it\n"
				if s.Kind == "Secret" {
					why = "# copied from the namespace of the manager when the plan is carried out\n"
				}
				b.WriteString(why)
				continue
			}
			text, err := yaml.Marshal(s.Object)
			if err != nil {
				return fmt.Errorf("print %s %s: %w", s.Kind, s.Name, err)
			}
			b.Write(text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
