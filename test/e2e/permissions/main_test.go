package permissions

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// Policies concern the whole cluster, so it is not shared.
func TestMain(m *testing.M) { devcluster.MainAlone(m) }

// world is a cluster with the kinds of the v1 API.
type world struct {
	t *testing.T
	client.Client
	admin *rest.Config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	admin := devcluster.Config()
	admin.QPS = -1
	return &world{t: t, Client: harness.Client(t, admin), admin: admin}
}

// as is a client of somebody else.
func (w *world) as(user string, groups ...string) client.Client {
	w.t.Helper()
	config := rest.CopyConfig(w.admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	return harness.ClientOf(w.t, config)
}

// apply writes the objects of a file, and removes them when the test is over.
func (w *world) apply(file string) {
	w.t.Helper()
	data := must.Value(os.ReadFile(file))(w.t)
	w.create(read(w.t, data)...)
}

func (w *world) create(objects ...*unstructured.Unstructured) {
	w.t.Helper()
	for _, object := range objects {
		must.NoErrorf(w.t, w.Create(w.t.Context(), object), "create %s %s", object.GetKind(), object.GetName())
		w.t.Cleanup(func() {
			if err := w.Delete(context.Background(), object); client.IgnoreNotFound(err) != nil {
				w.t.Errorf("delete %s %s: %v", object.GetKind(), object.GetName(), err)
			}
		})
	}
}

func read(t *testing.T, manifests []byte) []*unstructured.Unstructured {
	t.Helper()
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		must.NoError(t, err)
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// awaitPolicies waits until the API server enforces what was just written: by then somebody is refused.
func (w *world) awaitPolicies(refused func() error) {
	w.t.Helper()
	must.Eventually(w.t, "the policies to be enforced", func() error {
		switch err := refused(); {
		case err == nil:
			return errors.New("nothing is refused")
		case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err):
			return err
		}
		return nil
	})
}

// bind gives a user a ClusterRole.
func (w *world) bind(user, role string) {
	w.t.Helper()
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
		"metadata": map[string]any{"name": user + "-" + role},
		"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
		"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}},
	}}
	w.create(binding)
	probe := &metav1.PartialObjectMetadataList{}
	probe.SetGroupVersionKind(extensionKind)
	c := w.as(user)
	must.Eventually(w.t, role+" to be in force for "+user, func() error { return c.List(w.t.Context(), probe) })
}
