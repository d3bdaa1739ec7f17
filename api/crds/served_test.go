package crds_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/crds"
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
)

func TestMain(m *testing.M) { devcluster.Main(m) }

// server is an API server that has the definitions of the v1 API.
var server = sync.OnceValues(func() (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	c, err := client.New(devcluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	all, err := crds.All()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, crd := range all {
		if crd.Spec.Group != olmv1.GroupName {
			continue
		}
		crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		crd.ManagedFields = nil
		if err := c.Patch(ctx, crd, client.Apply, client.FieldOwner("fairlead-crds"), client.ForceOwnership); err != nil { //nolint:staticcheck // typed CRDs have no apply configuration
			return nil, fmt.Errorf("apply CustomResourceDefinition %s: %w", crd.Name, err)
		}
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(crd.Spec.Group + "/" + crd.Spec.Versions[0].Name)
		list.SetKind(crd.Spec.Names.ListKind)
		if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			return c.List(ctx, list) == nil, nil
		}); err != nil {
			return nil, fmt.Errorf("wait for %s to be served: %w", crd.Name, err)
		}
	}
	return c, nil
})

// checkServed asks an API server for its verdict on a new object, or where before is not nil on a changed one. It is asked about the v1 API
// and about what users write: the status of a new object is not looked at.
func (c ruleCase) checkServed(t *testing.T, object, before map[string]any) {
	t.Helper()
	if testing.Short() || !strings.HasPrefix(fmt.Sprint(object["apiVersion"]), olmv1.GroupName) || strings.Contains(c.change, "status:") {
		return
	}
	s, err := server()
	if err != nil {
		t.Fatal(err)
	}
	object = runtime.DeepCopyJSON(object)
	if before == nil {
		err = s.Create(t.Context(), &unstructured.Unstructured{Object: object}, client.DryRunAll)
	} else {
		first := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(before)}
		first.SetName("")
		first.SetGenerateName("rules-")
		must.NoError(t, s.Create(t.Context(), first))
		t.Cleanup(func() {
			if err := s.Delete(context.Background(), first); err != nil {
				t.Error(err)
			}
		})
		changed := &unstructured.Unstructured{Object: object}
		changed.SetName(first.GetName())
		changed.SetResourceVersion(first.GetResourceVersion())
		err = s.Update(t.Context(), changed, client.DryRunAll)
	}
	switch {
	case c.path == "" && err != nil:
		t.Errorf("an API server refuses it: %v", err)
	case c.path != "" && (err == nil || !strings.Contains(err.Error(), c.detail) || c.path != "<nil>" && !strings.Contains(err.Error(), c.path)):
		t.Errorf("the API server says %v; want an error at %s with %q", err, c.path, c.detail)
	}
}
