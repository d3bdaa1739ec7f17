package copiedcsv

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

// TestAnOperatorThatIsBeingInstalledIsCopiedOnce: when it has come to rest, however that ends.
func TestAnOperatorThatIsBeingInstalledIsCopiedOnce(t *testing.T) {
	for phase, want := range map[v1alpha1.ClusterServiceVersionPhase]time.Duration{
		v1alpha1.CSVPhasePending: reconcile.QuietPeriod - time.Second, v1alpha1.CSVPhaseInstallReady: reconcile.QuietPeriod - time.Second,
		v1alpha1.CSVPhaseInstalling: reconcile.QuietPeriod - time.Second, v1alpha1.CSVPhaseReplacing: reconcile.QuietPeriod - time.Second,
		v1alpha1.CSVPhaseSucceeded: 0, v1alpha1.CSVPhaseFailed: 0,
	} {
		t.Run(string(phase), func(t *testing.T) {
			csv := operator("op.v1")
			k := newCluster(t, append(namespaces(ns, "a"), group("a"), csv)...)
			change(k, &v1alpha1.ClusterServiceVersion{}, ns, "op.v1", func(csv *v1alpha1.ClusterServiceVersion) {
				at := metav1.NewTime(k.clock.Now().Add(-time.Second))
				csv.Status.Phase, csv.Status.LastUpdateTime = phase, &at
			})
			pass := func() time.Duration {
				t.Helper()
				result := must.Value(k.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "a", Name: "op.v1"}}))(t)
				return result.RequeueAfter
			}
			must.Equal(t, "it is requeued after", pass(), want)
			must.Equal(t, "within the pause copies are in", k.where("op.v1") != "", want == 0)
			k.clock.SetTime(k.clock.Now().Add(want))
			if got := pass(); got != 0 || k.where("op.v1") != "a" {
				t.Errorf("after the pause copies are in %q, and it is looked at again after %s", k.where("op.v1"), got)
			}
		})
	}
}
