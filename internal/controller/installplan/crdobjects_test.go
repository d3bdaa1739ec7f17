package installplan

import (
	"context"
	"errors"
	"testing"

	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// endless is a reader of more objects than a pass looks at.
type endless struct {
	client.Reader
	pages int
	err   error
}

func (e *endless) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	e.pages++
	objects := list.(*unstructured.UnstructuredList)
	for range 10 {
		objects.Items = append(objects.Items, unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}})
	}
	list.SetContinue("more")
	return e.err
}

// TestManyObjectsTakeSeveralPasses: a pass ends although there are more objects, says so, and the next one goes on.
func TestManyObjectsTakeSeveralPasses(t *testing.T) {
	exempt := []crd.Exempted{{Check: crd.ExistingObjects}}
	tests := map[string]struct {
		exempt  []crd.Exempted
		err     error
		waiting string
		fails   bool
		pages   int // in two passes
	}{
		"that stand in the way":        {nil, nil, "CustomResourceDefinition widgets.example.com: its objects are compared with the new schema, 400 so far", false, 40},
		"that do not":                  {exempt, nil, "", false, 4},
		"that cannot be read":          {nil, errors.New("no"), "", true, 2},
		"that cannot, and need not be": {exempt, errors.New("no"), "", false, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			reader := &endless{err: tc.err}
			w.controller.live = reader
			live, wanted := liveCRD(t, "v1 served", "v1"), liveCRD(t, "v1 served", "v1")
			wanted.Spec.Versions[0].Schema.OpenAPIV3Schema.MaxProperties = new(int64(5))
			var s *stepRun
			for range 2 {
				s = &stepRun{}
				x := w.controller.newExecution(newPlan())
				change := crd.Change{Live: live, Desired: wanted, Exempted: tc.exempt}
				verdict := must.Value(crd.Judge(t.Context(), change, crd.Stored{}))(t)
				x.replaced.checkObjects(t.Context(), w.controller, &crdStep{stepRun: s, change: change, verdict: verdict})
			}
			if s.result.waiting != tc.waiting || (s.result.err != nil) != tc.fails {
				t.Errorf("waiting %q, error %v", s.result.waiting, s.result.err)
			}
			must.Equal(t, "pages", reader.pages, tc.pages)
		})
	}
}
