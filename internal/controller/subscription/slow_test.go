package subscription

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSlowBundlesAreWaitedForTogether: a registry that does not answer holds the statuses of a namespace up for a moment, not for a moment
// for each of its Subscriptions.
func TestSlowBundlesAreWaitedForTogether(t *testing.T) {
	ended := make(chan struct{})
	registry := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	defer registry.Close()
	defer close(ended)
	const subscriptions = 30
	objects, content := []client.Object{operatorGroup("og"), catalogSource("cat")}, ""
	for i := range subscriptions {
		name := fmt.Sprintf("op%d", i)
		objects = append(objects, subscribe(name, name, ""))
		content += strings.ReplaceAll(pkg(name, "", "", "1.0.0"), `image: ""`, fmt.Sprintf("image: %s/%s:v1", strings.TrimPrefix(registry.URL, "http://"), name))
	}
	w := newWorld(t, objects...)
	w.serve("cat", content)
	store := must.Value(image.Open(t.TempDir(), image.Config{}))(t)
	w.controller.Clock = clock.RealClock{}
	w.controller.Unpacker = bundleio.NewUnpacker(store, clock.RealClock{}, func() {})
	began := time.Now()
	w.mustReconcile()
	if took := time.Since(began); took > subscriptions*patience/2 {
		t.Errorf("it took %s until the statuses of %d Subscriptions were written", took, subscriptions)
	}
	for i := range subscriptions {
		sub := w.subscription(fmt.Sprintf("op%d", i))
		must.Equal(t, "condition of its bundle", sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpacking).Status, corev1.ConditionTrue)
	}
}

// TestContentThatChangesMeanwhile: between the decision and its being written down, the catalog that holds the manifests
// is another one, with the same versions. The plan is for that one.
func TestContentThatChangesMeanwhile(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	changed := false
	w.controller.live = fakeapi.Lists{Reader: w.Server, Before: func(client.ObjectList, string) error {
		if !changed {
			changed = true
			w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0"))
		}
		return nil
	}}
	w.mustReconcile()
	if plans := w.plans(); len(plans) > 0 || !changed {
		t.Errorf("a plan was made for content that has changed meanwhile (%t)", changed)
	}
	w.mustReconcile()
	w.onlyPlan()
}
