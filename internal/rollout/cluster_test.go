package rollout

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json" // reads whole numbers as such
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

const manager = "fairlead-test"

// cluster is a fake API server that counts writes, hands out UIDs, and fails on request.
type cluster struct {
	client.WithWatch
	mu     sync.Mutex
	writes []string
	// fault is asked before and after each write, and its error is what the writer gets.
	fault func(write int, after bool) error
}

func newCluster(t testing.TB, objects ...*unstructured.Unstructured) *cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	must.NoError(t, clientgoscheme.AddToScheme(scheme))
	c := &cluster{}
	var uids atomic.Int64
	builder := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields()
	for _, o := range objects {
		builder = builder.WithObjects(o)
	}
	c.WithWatch = builder.WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if o.GetUID() == "" {
				o.SetUID(types.UID(fmt.Sprintf("uid-%d", uids.Add(1))))
			}
			return c.write("create "+o.GetName(), func() error { return w.Create(ctx, o, opts...) })
		},
		Apply: func(ctx context.Context, w client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			name := o.(interface{ GetName() string }).GetName()
			return c.write("apply "+name, func() error { return w.Apply(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, w client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return c.write("patch "+o.GetName(), func() error { return w.Patch(ctx, o, p, opts...) })
		},
		Delete: func(ctx context.Context, w client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return c.write("delete "+o.GetName(), func() error { return w.Delete(ctx, o, opts...) })
		},
	}).Build()
	return c
}

func (c *cluster) write(what string, do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, what)
	n := len(c.writes)
	if c.fault != nil {
		if err := c.fault(n, false); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if c.fault != nil {
		return c.fault(n, true)
	}
	return nil
}

// taken returns the writes since the last call.
func (c *cluster) taken() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.writes
	c.writes = nil
	return w
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
