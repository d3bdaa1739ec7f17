package installplan

import (
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitsFor makes sure that a plan which cannot ask for its bundle waits and says for what.
func waitsFor(t *testing.T, w *world, words string) {
	t.Helper()
	p := w.settle(t, 20*time.Minute)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !strings.HasPrefix(p.Status.Message, "waiting: ") || !strings.Contains(p.Status.Message, words) {
		t.Errorf("%s: %q, want one that waits and says %q", p.Status.Phase, p.Status.Message, words)
	}
	must.Equal(t, "the lookup does not say it", len(p.Status.BundleLookups), 1)
	must.Contain(t, "the lookup does not say it", p.Status.BundleLookups[0].GetCondition(v1alpha1.BundleLookupPending).Message, words)
	checkStatus(t, p)
}

// TestForeignPlanWaitsForItsPullSecret: what it takes to ask for a bundle is waited for as long as the bundle itself.
func TestForeignPlanWaitsForItsPullSecret(t *testing.T) {
	source := catalogSource("olm", "catalog", 0)
	source.Spec.Secrets = []string{"pull"}
	// The image of a bundle in a registry of the test.
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	ref := strings.TrimPrefix(server.URL, "http://") + "/there:v1"
	content := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
	must.Value(image.Push(t.Context(), ref, content, nil, image.PushOptions{}))(t)
	w := newWorld(t, foreignPlan(t, ref), source)
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	w.controller.Manifests = bundleio.Manifests{Blobs: blobs{}}
	w.controller.Bundles = Images{Unpacker: bundleio.NewUnpacker(store, realClock{w.Clock}, func() {}), Reader: w, Catalogs: w.controller.Catalogs, GlobalNamespace: "olm"}
	waitsFor(t, w, "read pull secret olm/pull")
	empty := pullSecret()
	empty.Data = nil
	must.NoError(t, w.Create(t.Context(), empty))
	waitsFor(t, w, "it has neither .dockerconfigjson nor .dockercfg")
	secret := &corev1.Secret{}
	w.get(t, secret, "olm", "pull")
	secret.Data = pullSecret().Data
	must.NoError(t, w.Inner.Update(t.Context(), secret))
	var p *v1alpha1.InstallPlan
	for range 20 { // the image comes in real time
		if p = w.settle(t, time.Minute); p.Status.Phase == v1alpha1.InstallPlanPhaseComplete {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
}

// TestLostManifestsWaitForThePolicy: so is an annotation that has to be corrected.
func TestLostManifestsWaitForThePolicy(t *testing.T) {
	w := lostWorld(t)
	annotate := func(value string) {
		t.Helper()
		group := &operatorsv1.OperatorGroup{}
		must.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "group"}, group))
		group.Annotations = map[string]string{v1alpha1.BundleUnpackTimeoutAnnotation: value}
		must.NoError(t, w.Inner.Update(t.Context(), group))
	}
	annotate("soon")
	waitsFor(t, w, "it must be a duration such as 10m")
	annotate("5m")
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}
