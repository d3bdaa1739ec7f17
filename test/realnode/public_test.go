package realnode

import (
	"context"
	"path"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// publicBundle installs a bundle as its authors published it, whose pods run under the published name of their image. What is behind that name is the program
// of these tests, which answers the webhooks and the probes of the bundle: registries of the world need not be reached.
func (w *world) publicBundle() {
	const pkg, version, image = "rabbitmq-cluster-operator", "2.22.3", "quay.io/rabbitmqoperator/cluster-operator:2.22.3"
	if !publicdata.Has(publicdata.Bundles) {
		w.Skip("the public bundles are not beside the checkout: " + publicdata.Bundles)
	}
	files := fstest.MapFS{}
	for name, file := range publicdata.BundleTrees(w)[path.Join(pkg, version)] {
		files[path.Join(pkg, version, name)] = file
	}
	w.pushAs(w.status.Registry + "/" + image)
	w.offer("public", files)
	w.subscribeTo("public", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pkg}}, pkg, false)
	began := time.Now()
	must.EventuallyWithin(w, "the public bundle is installed", 2*time.Minute, func() error { return w.csvSucceeds(pkg, pkg+".v"+version) })
	w.Logf("%s %s is installed after %s", pkg, version, time.Since(began).Round(100*time.Millisecond))
	for _, pod := range w.podsIn(pkg) {
		must.Equal(w, "image of pod "+pod.Name, pod.Spec.Containers[0].Image, image)
	}
	w.eventually("its webhooks are asked", func(ctx context.Context) error {
		made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rabbitmq.com/v1beta1", "kind": "RabbitmqCluster", "metadata": map[string]any{"namespace": pkg, "name": "one"}, "spec": map[string]any{}}}
		if err := w.Create(ctx, made, client.DryRunAll); err != nil {
			return err
		}
		must.Equal(w, "who has seen the RabbitmqCluster", made.GetAnnotations()[seenBy], "manager")
		return nil
	})
}

// podsIn are the pods of a namespace.
func (w *world) podsIn(namespace string) []corev1.Pod {
	w.Helper()
	var pods corev1.PodList
	must.NoError(w, w.List(w.Context(), &pods, client.InNamespace(namespace)))
	return pods.Items
}
