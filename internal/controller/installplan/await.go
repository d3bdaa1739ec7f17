package installplan

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// awaits tells whether there is nothing to do about a step but to wait until its CRD is served, or to note that it is now. A plan may
// wait for a hundred CRDs, each of which changes several times until then: the cache, without their schemas, is good enough here.
func (x *execution) awaits(ctx context.Context, s *stepRun) bool {
	if s.step.Status != v1alpha1.StepStatusWaitingForAPI || s.step.Resource.Kind != crdKind {
		return false
	}
	crd, err := x.writer.lookAtCRD(s.step.Resource.Name)(ctx)
	if err != nil || crd == nil || crd.GetDeletionTimestamp() != nil {
		return false // it has gone, so it is made anew
	}
	if missing := rollout.Established(crd); missing != "" {
		s.result.waiting = fmt.Sprintf("%s %s: %s", crdKind, crd.GetName(), missing)
	} else {
		s.result.status = v1alpha1.StepStatusCreated
	}
	return true
}

// lookAtCRD reads a CRD from the cache. It returns nil when there is none.
func (x *stepWriter) lookAtCRD(name string) func(context.Context) (*unstructured.Unstructured, error) {
	return func(ctx context.Context) (*unstructured.Unstructured, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := x.cached.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			return nil, fmt.Errorf("read the conditions of %s %s: %w", crdKind, name, err)
		}
		return &unstructured.Unstructured{Object: content}, nil
	}
}
