package installplan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestOutdatedCRDs has a bundle of the time before Kubernetes 1.16, for a cluster that has the CRD and one that has not.
func TestOutdatedCRDs(t *testing.T) {
	old := strings.Replace(strings.Replace(crdYAML, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1), "versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]", "version: v1", 1)
	const want = "api-server resource not found installing CustomResourceDefinition widgets.example.com: GroupVersionKind apiextensions.k8s.io/v1beta1, Kind=CustomResourceDefinition not found on the cluster. " +
		"Kubernetes 1.22 removed it: install a version of the operator whose bundle has this CRD as apiextensions.k8s.io/v1, with a schema for each version; if there is none, ask its author for one"
	for name, live := range map[string][]client.Object{"a new CRD": nil, "one that exists": {liveCRD(t, "v1 served", "v1")}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append(live, newPlan(step(t, csvYAML), step(t, old)))...)
			p := w.settle(t, 2*time.Minute)
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			must.Equal(t, "message", p.Status.Message, want)
			if statuses(p)[crdKind] != v1alpha1.StepStatusNotPresent || w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1") {
				t.Errorf("steps %v", statuses(p))
			}
		})
	}
}

// TestCRDsThatAreTooLarge has one that no API server takes: nothing is judged and nothing else is made.
func TestCRDsThatAreTooLarge(t *testing.T) {
	large := strings.Replace(crdYAML, "schema: {openAPIV3Schema: {type: object}}", "schema: {openAPIV3Schema: {type: object, description: "+strings.Repeat("x", bundle.MaxStored)+"}}", 1)
	w := newWorld(t, liveCRD(t, "v1 served", "v1"), newPlan(step(t, csvYAML), step(t, large)))
	must.Value(w.reconcile(t))(t)
	p := w.plan(t, "plan")
	must.Contain(t, "message", p.Status.Message, "bytes, and etcd takes at most 1572864: its author has to make it smaller")
	if got := p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Reason; got != v1alpha1.InstallPlanReasonContentInvalid || p.Status.Phase != v1alpha1.InstallPlanPhaseFailed {
		t.Errorf("after the first pass the plan is %s, %s; no other pass helps", p.Status.Phase, got)
	}
	if w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1") {
		t.Error("the ClusterServiceVersion was made")
	}
}

// TestCRDAsLargeAsCanBe makes, and replaces, a CRD of 1.4 MB, of which the storage of a cluster takes 1.5; every day it is one of 140 kB, because comparing
// the large one takes half a minute, and several under the race detector.
func TestCRDAsLargeAsCanBe(t *testing.T) {
	size := sweep.Of(15, 150, 1500)
	w := newCRDWorld(t)
	var fields strings.Builder
	for i := range size {
		fmt.Fprintf(&fields, ", f%04d: {type: string, description: '%s'}", i, strings.Repeat("What it is for. ", 55))
	}
	manifest := func(number string) string {
		return strings.Replace(w.definition("v1 served stored {"+number), "size: {"+number+"}", "size: {"+number+"}"+fields.String(), 1)
	}
	first, second := manifest("type: integer"), manifest("type: integer, maximum: 5")
	if len(second) < size*900 {
		t.Fatalf("it has %d bytes only", len(second))
	}
	hasPhase(t, w.install(t, w.owner(), first), v1alpha1.InstallPlanPhaseComplete)
	w.fill(t, "v1", 20, 9, 1)
	w.makeStrict(t)
	start := time.Now()
	must.Contain(t, "message", w.install(t, w.owner(), second).Status.Message, "10 of 20 objects become invalid")
	hasPhase(t, w.install(t, w.owner(), manifest("type: integer, maximum: 9")), v1alpha1.InstallPlanPhaseComplete)
	t.Logf("judged and replaced in %s", time.Since(start))
}
