package manager

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPublicCSVsAreStoredWhole creates the ClusterServiceVersion of public bundles on the API server and reads it back. No OperatorGroup is there, and the
// namespace is not that of any test, so nothing is installed. TestRealCSVs in api/crds tries the same schema without an API server.
func TestPublicCSVsAreStoredWhole(t *testing.T) {
	trees := publicdata.BundleTrees(t)
	must.NoErrorf(t, running(), "start the manager")
	c := must.Value(client.New(devcluster.Config(), client.Options{}))(t)
	namespace := devcluster.Namespace(t)
	if len(trees) < 138 {
		t.Errorf("there are %d bundles, want at least 138", len(trees))
	}
	names := slices.Sorted(maps.Keys(trees))
	step := len(names) / sweep.Of(7, 14, len(names))
	for i := 0; i < len(names); i += step {
		name, tree := names[i], trees[names[i]]
		t.Run(name, func(t *testing.T) {
			t.Helper()
			b := must.Value(bundle.Load(tree))(t)
			written := b.AllObjects()[0].DeepCopy()
			written.SetAPIVersion("operators.coreos.com/v1alpha1") // one package names a group of its own
			written.SetNamespace(namespace)
			stored := written.DeepCopy()
			must.NoError(t, c.Create(t.Context(), stored))
			t.Cleanup(func() {
				if err := c.Delete(context.Background(), stored); client.IgnoreNotFound(err) != nil {
					t.Error(err)
				}
			})
			read := &unstructured.Unstructured{}
			read.SetGroupVersionKind(stored.GroupVersionKind())
			must.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(stored), read))
			for _, lost := range missing("spec", written.Object["spec"], read.Object["spec"]) {
				t.Error(lost)
			}
		})
	}
}

// missing lists the paths of what is in want and not, or not the same, in got.
func missing(path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok && len(w) > 0 {
			return lost(path)
		}
		var all []string
		for key, value := range w {
			if value != nil {
				all = append(all, missing(path+"."+key, value, g[key])...)
			}
		}
		return all
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return lost(path)
		}
		var all []string
		for i := range w {
			all = append(all, missing(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(fmt.Sprint(want), fmt.Sprint(got)) {
		return lost(path)
	}
	return nil
}

// lost reports a path, unless it is one of those that published operators hold by mistake and that are fields of no API: names in
// the wrong case or at the wrong place.
func lost(path string) []string {
	for _, stray := range []string{".MinKubeVersion", ".support", ".Kind"} {
		if strings.HasSuffix(path, stray) {
			return nil
		}
	}
	if strings.Contains(path, "deployments[") && (strings.HasSuffix(path, ".spec.ports") || strings.HasSuffix(path, ".selector.app.kubernetes.io/name")) {
		return nil // a Service that slipped into a Deployment
	}
	return []string{path + " is lost"}
}
