package rollout

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json" // reads whole numbers as such
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

const manager = "fairlead-test"

// cluster is a fake API server that makes one write at a time.
type cluster struct{ *fakeapi.Server }

func newCluster(t testing.TB, objects ...*unstructured.Unstructured) *cluster {
	t.Helper()
	builder := fake.NewClientBuilder().WithScheme(fakeapi.Scheme(clientgoscheme.AddToScheme)).WithReturnManagedFields()
	for _, o := range objects {
		builder = builder.WithObjects(o)
	}
	c := &cluster{fakeapi.New(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), builder)}
	c.OneAtATime = true
	return c
}

func (c *cluster) get(t testing.TB, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kinds[kind])
	must.NoError(t, c.WithWatch.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, u))
	return u
}

var kinds = map[string]schema.GroupVersionKind{
	"ConfigMap":      {Version: "v1", Kind: "ConfigMap"},
	"Service":        {Version: "v1", Kind: "Service"},
	"ServiceAccount": {Version: "v1", Kind: "ServiceAccount"},
	"Deployment":     {Group: "apps", Version: "v1", Kind: "Deployment"},
	"ClusterRole":    {Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole"},
}

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	content := must.Value(yaml.YAMLToJSON([]byte(text)))(t)
	must.NoError(t, json.Unmarshal(content, &u.Object))
	return u
}

func configMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "ns", "name": name},
		"data":     map[string]any{"key": value},
	}}
}

func engine(c client.Client) *Engine { return &Engine{Client: c, FieldManager: manager} }

func phase(objects ...*unstructured.Unstructured) Phase {
	var p Phase
	for _, o := range objects {
		p.Objects = append(p.Objects, Object{Wanted: o})
	}
	return p
}

// outcomes lists what became of each object, in order.
func outcomes(r *Result) []Outcome {
	var all []Outcome
	for _, p := range r.Phases {
		for _, o := range p.Objects {
			all = append(all, o.Outcome)
		}
	}
	return all
}
