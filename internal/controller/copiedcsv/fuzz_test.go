package copiedcsv

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// FuzzReconcile makes passes over odd and partial objects, copies among them that a user has edited: nothing panics, and once nothing
// changes any more nothing is written.
func FuzzReconcile(f *testing.F) {
	f.Add("a,b", "Succeeded", "InstallSucceeded", "olm.copiedFrom", "operators", "", true, false)
	f.Add("", "Failed", "TooManyOperatorGroups", "olm.operatorNamespace", "nowhere", "x.y", false, true)
	f.Add(",", "", "", "", "", ".", true, true)
	f.Fuzz(func(t *testing.T, targets, phase, reason, key, value, mark string, second, disabled bool) {
		csv := operator("op.v1")
		csv.Status.Phase, csv.Status.Reason = v1alpha1.ClusterServiceVersionPhase(phase), v1alpha1.ConditionReason(reason)
		csv.Labels[key], csv.Annotations = value, nil
		config := olmConfig()
		disable(disabled)(config)
		k := newCluster(t, append(namespaces(ns, "a", "b"), group(strings.Split(targets, ",")...), csv, config)...)
		k.settle()
		for _, copied := range k.server.keys() {
			k.server.edit(copied.Namespace, copied.Name, "kubectl", "", func(c *v1alpha1.ClusterServiceVersion) {
				if key != v1alpha1.CopiedFromLabel { // without it the fake caches show it nowhere
					c.Labels[key] = value
				}
				c.Annotations = map[string]string{key: value, markAnnotation: mark}
			})
		}
		if second {
			other := group(targets)
			other.Name = "second"
			k.create(other)
		}
		k.restart()
		k.settle()
		k.quiet()
		for range 2 {
			if _, err := k.reporter.Reconcile(t.Context(), reconcile.Request{}); err != nil {
				t.Errorf("report: %v", err)
			}
		}
		if writes := k.statusWrites(); len(writes) > 1 {
			t.Errorf("the same condition was written again: %v", writes)
		}
	})
}
