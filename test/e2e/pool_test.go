package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// pool holds the clusters that tests use one after the other: the start of one takes more processor time than most tests. A nil is yet to be started.
var pool = make(chan *own, 2)

func init() {
	for range cap(pool) {
		pool <- nil
	}
}

// sweepTimeout bounds how long the deletion of what a test has left may take. A cluster where it takes longer is replaced.
const sweepTimeout = time.Minute

// pooled returns a cluster of the pool, without a manager, with the project's APIs, until the test ends.
func pooled(t testing.TB) *own {
	t.Helper()
	o := must.Value(borrow(t.Context()))(t)
	t.Cleanup(func() { pool <- o })
	return o.of(t)
}

// cluster lets $KUBECONFIG of a script name a cluster of the pool, without the project's APIs, until the script ends.
func cluster(ts *testscript.TestScript, _ bool, _ []string) {
	o, err := borrow(context.Background())
	ts.Check(err)
	ts.Defer(func() { pool <- o })
	ts.Setenv("KUBECONFIG", o.kubeconfig)
}

func borrow(ctx context.Context) (o *own, err error) {
	defer func() {
		if err != nil {
			pool <- nil
		}
	}()
	o = <-pool
	if o != nil && o.sweep(ctx) == nil {
		return o, nil
	}
	if o != nil {
		_ = o.cluster.Stop(ctx) // it ends by itself, too
	}
	dir, err := os.MkdirTemp("", "own-")
	if err != nil {
		return nil, err
	}
	return startCluster(ctx, dir)
}

// sweep deletes the kinds that a test has left, with all their objects, and its namespaces.
func (o *own) sweep(ctx context.Context) error {
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, sweepTimeout, true, func(ctx context.Context) (bool, error) {
		left, err := o.remove(ctx)
		return left == 0 && err == nil, nil // what fails now is tried again
	})
}

// remove is one attempt of sweep, and returns how much it found.
func (o *own) remove(ctx context.Context) (left int, err error) {
	var definitions apiextensionsv1.CustomResourceDefinitionList
	var namespaces corev1.NamespaceList
	if err := errors.Join(o.List(ctx, &definitions), o.List(ctx, &namespaces)); err != nil {
		return 0, err
	}
	for i := range definitions.Items {
		left++
		err = errors.Join(err, client.IgnoreNotFound(o.Delete(ctx, &definitions.Items[i])), o.release(ctx, &definitions.Items[i]))
	}
	for i := range namespaces.Items {
		if name := namespaces.Items[i].Name; name != corev1.NamespaceDefault && !strings.HasPrefix(name, "kube-") {
			left++
			err = errors.Join(err, client.IgnoreNotFound(o.Delete(ctx, &namespaces.Items[i])))
		}
	}
	return left, err
}

// release removes the finalizers of the objects of a kind: the manager that would do so has ended.
func (o *own) release(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) error {
	objects := &unstructured.UnstructuredList{}
	objects.SetGroupVersionKind(schema.GroupVersionKind{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name, Kind: crd.Spec.Names.Kind + "List"})
	err := o.List(ctx, objects)
	if meta.IsNoMatchError(err) {
		return nil // the kind has gone
	}
	for i := range objects.Items {
		if object := &objects.Items[i]; len(object.GetFinalizers()) > 0 {
			err = errors.Join(err, o.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
		}
	}
	return client.IgnoreNotFound(err)
}

// stopPool ends the clusters of the pool when all tests have ended.
func stopPool() error {
	for range cap(pool) {
		if o := <-pool; o != nil {
			if err := o.cluster.Stop(context.Background()); err != nil {
				return fmt.Errorf("stop a cluster of the pool: %w", err)
			}
		}
	}
	return nil
}
