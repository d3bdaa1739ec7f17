package extensionplan

import (
	"context"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/preview"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// First is what a ClusterExtension that is not there yet would have.
type First struct {
	Bundle string
	// Objects are those of the bundle, rendered for the extension.
	Objects []*unstructured.Unstructured
	// Blocked is why it cannot be had.
	Blocked []string
}

// First decides on a ClusterExtension that is not there yet, and renders its bundle. Whose the objects are that are there already is not
// looked at.
func (p Planner) First(ctx context.Context, q *preview.Question, ext *olmv1.ClusterExtension) (*First, error) {
	q.Objects.Extensions = append(q.Objects.Extensions, *ext)
	plan := &Plan{Extension: ext.Name}
	w, err := p.wanted(ctx, q, ext, nil, plan)
	if err != nil {
		return nil, err
	}
	out := &First{Blocked: plan.Blocked, Bundle: plan.Wanted.Bundle}
	if w != nil {
		out.Bundle, out.Objects = w.version.Bundle, w.objects
	}
	return out, nil
}
