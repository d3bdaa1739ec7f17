package harness

import (
	"net"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/test/must"
)

// ClientOf is a client that knows the project's APIs, of a cluster that may not have them yet.
func ClientOf(t testing.TB, config *rest.Config) client.WithWatch {
	t.Helper()
	return must.Value(clientOf(config))(t)
}

func clientOf(config *rest.Config) (client.WithWatch, error) {
	scheme, err := kubeconfig.Scheme()
	if err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// Create creates objects, which the test needs.
func Create(t testing.TB, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		must.NoErrorf(t, c.Create(t.Context(), o), "create %T %s", o, client.ObjectKeyFromObject(o))
	}
}

// Remove deletes objects, which may have gone already.
func Remove(t testing.TB, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Delete(t.Context(), o); client.IgnoreNotFound(err) != nil {
			t.Fatalf("delete %T %s: %v", o, client.ObjectKeyFromObject(o), err)
		}
	}
}

// Read reads an object and says whether it is there.
func Read(t testing.TB, c client.Client, namespace, name string, into client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, into)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

// Await repeats a check of an object until it returns no error. Each time the object is read anew: nothing of an earlier state stays in it.
func Await(t testing.TB, c client.Client, key client.ObjectKey, o client.Object, what string, check func() error) {
	t.Helper()
	kind := o.GetObjectKind().GroupVersionKind()
	must.Eventually(t, what, func() error {
		reflect.ValueOf(o).Elem().SetZero()
		o.GetObjectKind().SetGroupVersionKind(kind)
		o.SetNamespace(key.Namespace)
		o.SetName(key.Name)
		if err := c.Get(t.Context(), key, o); err != nil {
			return err
		}
		return check()
	})
}

// Edit reads an object, changes it and writes it, again and again while others write it too.
func Edit[T client.Object](t testing.TB, c client.Client, namespace, name string, object T, change func(T)) {
	t.Helper()
	for {
		if !Read(t, c, namespace, name, object) {
			t.Fatalf("%T %s is not there", object, client.ObjectKey{Namespace: namespace, Name: name})
		}
		change(object)
		err := c.Update(t.Context(), object)
		if err == nil {
			return
		}
		if !apierrors.IsConflict(err) {
			t.Fatalf("change %T %s: %v", object, client.ObjectKeyFromObject(object), err)
		}
	}
}

// Push pushes files as an image, and returns its digest.
func Push(t testing.TB, ref string, files map[string]string, labels map[string]string) string {
	t.Helper()
	contents := map[string][]byte{}
	for path, content := range files {
		contents[path] = []byte(content)
	}
	tree := must.Value(image.Files(contents))(t)
	digest, err := image.Push(t.Context(), ref, tree, labels, image.PushOptions{})
	must.NoErrorf(t, err, "push %s", ref)
	return digest
}

// FreeAddress is an address of loopback at which no server listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	must.NoError(t, l.Close())
	return l.Addr().String()
}
