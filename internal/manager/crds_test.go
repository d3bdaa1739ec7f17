package manager

import (
	"context"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/crds"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mapperOf is what an API server tells of the first definitions.
func mapperOf(wanted []*apiextensionsv1.CustomResourceDefinition) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, crd := range wanted {
		for _, v := range crd.Spec.Versions {
			mapper.Add(schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}, meta.RESTScopeNamespace)
		}
	}
	return mapper
}

// TestDiscovered: an API server tells of kinds later than it serves them, and what begins in between must not find them missing.
func TestDiscovered(t *testing.T) {
	wanted, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	err = discovered(t.Context(), wanted, func() (meta.RESTMapper, error) {
		known = min(known+4, len(wanted))
		return mapperOf(wanted[:known]), nil
	})
	if err != nil || known != len(wanted) {
		t.Errorf("it waited until %d of %d kinds were told of: %v", known, len(wanted), err)
	}

	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	err = discovered(ctx, wanted, func() (meta.RESTMapper, error) { return mapperOf(wanted[1:]), nil })
	if err == nil || !strings.Contains(err.Error(), wanted[0].Spec.Names.Kind) {
		t.Errorf("one that is never told of: %v, want its name", err)
	}
}
