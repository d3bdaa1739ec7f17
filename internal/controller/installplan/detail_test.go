package installplan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// TestHowFarCRDsAre is written every few seconds; that all are there is written at once.
func TestHowFarCRDsAre(t *testing.T) {
	const n = 12
	var steps []*v1alpha1.Step
	name := func(i int) string { return fmt.Sprintf("things%d.example.com", i) }
	for i := range n {
		steps = append(steps, step(t, strings.NewReplacer("widgets", fmt.Sprintf("things%d", i), "Widget", fmt.Sprintf("Thing%d", i)).Replace(crdYAML)))
	}
	w := newWorld(t, newPlan(steps...))
	w.establish = false
	w.settle(t, 10*time.Second)
	before, last := 0, w.plan(t, "plan").ResourceVersion
	for i := range n {
		must.NoError(t, setEstablished(t.Context(), w.Inner, name(i)))
		w.Clock.SetTime(w.Clock.Now().Add(time.Second))
		must.Value(w.reconcile(t))(t)
		if now := w.plan(t, "plan").ResourceVersion; now != last {
			before, last = before+1, now
			if _, err := w.reconcile(t); err != nil { // the event of that write
				t.Fatal(err)
			}
		}
	}
	if p := w.plan(t, "plan"); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || p.Status.Message != "" {
		t.Errorf("when all are there the plan is %s: %q", p.Status.Phase, p.Status.Message)
	}
	if before < 2 || before > 4 {
		t.Errorf("in 12 s in which one CRD after the other came to be served, the status was written %d times", before)
	}
}

// TestOperatorsAreMadeWithTheirMarks saves a write of each of them.
func TestOperatorsAreMadeWithTheirMarks(t *testing.T) {
	w := newWorld(t, newPlan(step(t, csvYAML), step(t, crdYAML)))
	w.settle(t, time.Minute)
	csv := &v1alpha1.ClusterServiceVersion{}
	if !w.get(t, csv, "ns", "op.v1") {
		t.Fatal("there is no ClusterServiceVersion")
	}
	labels := bundle.APILabels(csv)
	if len(labels) == 0 {
		t.Fatal("the ClusterServiceVersion of the test has no APIs")
	}
	for key, value := range labels {
		if csv.Labels[key] != value {
			t.Errorf("label %s is %q, want %q", key, csv.Labels[key], value)
		}
	}
	if !controllerutil.ContainsFinalizer(csv, v1alpha1.CSVCleanupFinalizer) {
		t.Errorf("finalizers %v", csv.Finalizers)
	}
	if csv.Annotations[v1alpha1.OperatorGroupAnnotation] == "" || csv.Annotations[v1alpha1.OperatorNamespaceAnnotation] != "ns" {
		t.Errorf("annotations %v", csv.Annotations)
	}
	if _, is := csv.Annotations[v1alpha1.TargetNamespacesAnnotation]; !is {
		t.Error("its pods do not learn of their target namespaces")
	}
}
