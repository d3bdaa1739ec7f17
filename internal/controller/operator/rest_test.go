package operator

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/lull"
)

// TestWhatIsBeingInstalledIsLeftAlone as long as it changes; one that has come to rest, or is stuck, is not.
func TestWhatIsBeingInstalledIsLeftAlone(t *testing.T) {
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	csvAt := func(phase v1alpha1.ClusterServiceVersionPhase, age time.Duration) *v1alpha1.ClusterServiceVersion {
		csv, at := newCSV("etcd.v1"), ago(age)
		csv.Status.Phase, csv.Status.LastUpdateTime = phase, &at
		return csv
	}
	planAt := func(phase v1alpha1.InstallPlanPhase, age time.Duration) *v1alpha1.InstallPlan {
		p, at := plan("install-1"), ago(age)
		p.Status.Phase, p.Status.StartTime = phase, &at
		return p
	}
	fresh := subscription("", "")
	fresh.CreationTimestamp = ago(time.Second)
	old := subscription("", "")
	old.CreationTimestamp = ago(time.Minute)
	for what, c := range map[string]struct {
		objects []client.Object
		want    time.Duration
	}{
		"a new Subscription":               {[]client.Object{fresh}, lull.Pause - time.Second},
		"a Subscription that waits":        {[]client.Object{old}, 0},
		"an operator that is installed":    {[]client.Object{subscription("etcd.v1", ""), csvAt(v1alpha1.CSVPhaseInstalling, time.Second)}, lull.Pause - time.Second},
		"an operator that waits":           {[]client.Object{subscription("etcd.v1", ""), csvAt(v1alpha1.CSVPhasePending, time.Minute)}, 0},
		"an operator that runs":            {[]client.Object{subscription("etcd.v1", ""), csvAt(v1alpha1.CSVPhaseSucceeded, 0)}, 0},
		"an operator that failed":          {[]client.Object{subscription("etcd.v1", ""), csvAt(v1alpha1.CSVPhaseFailed, 0)}, 0},
		"a plan that is carried out":       {[]client.Object{subscription("etcd.v1", "install-1"), planAt(v1alpha1.InstallPlanPhaseInstalling, 20*time.Second)}, time.Second},
		"a plan that has not begun":        {[]client.Object{subscription("etcd.v1", "install-1"), planAt(v1alpha1.InstallPlanPhaseNone, time.Second)}, time.Second},
		"a plan that is tried for long":    {[]client.Object{subscription("etcd.v1", "install-1"), planAt(v1alpha1.InstallPlanPhaseInstalling, time.Minute)}, 0},
		"a plan that is done":              {[]client.Object{subscription("etcd.v1", "install-1"), planAt(v1alpha1.InstallPlanPhaseComplete, 0)}, 0},
		"a plan that nobody approved":      {[]client.Object{subscription("etcd.v1", "install-1"), planAt(v1alpha1.InstallPlanPhaseRequiresApproval, 0)}, 0},
		"a plan and an operator that went": {[]client.Object{subscription("etcd.v1", "install-1")}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			k := newCluster(t, c.objects...)
			result, err := k.c.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
			if err != nil {
				t.Fatal(err)
			}
			if result.RequeueAfter != c.want {
				t.Errorf("it is looked at again after %s, want %s", result.RequeueAfter, c.want)
			}
			if wrote := len(k.writes) > 0; wrote != (c.want == 0) {
				t.Errorf("it is to be left alone for %s, and was written: %v", c.want, k.writes)
			}
		})
	}
}
