package operator

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
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
		"a new Subscription":               {[]client.Object{fresh}, reconcile.QuietPeriod - time.Second},
		"a Subscription that waits":        {[]client.Object{old}, 0},
		"an operator that is installed":    {[]client.Object{subscription("etcd.v1", ""), csvAt(v1alpha1.CSVPhaseInstalling, time.Second)}, reconcile.QuietPeriod - time.Second},
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
			result := must.Value(k.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}))(t)
			must.Equal(t, "it is requeued after", result.RequeueAfter, c.want)
			must.Equal(t, "written although it is at rest for "+c.want.String(), len(k.Writes()) > 0, c.want == 0)
		})
	}
}

// TestAnOperatorIsThereAtOnce, and says each change of its components, while they are being installed; only labels wait.
func TestAnOperatorIsThereAtOnce(t *testing.T) {
	at := metav1.NewTime(now.Add(-time.Second))
	csv := newCSV("etcd.v1")
	csv.Labels = map[string]string{key: ""}
	csv.Status.Phase, csv.Status.LastUpdateTime = v1alpha1.CSVPhaseInstalling, &at
	k := newCluster(t, subscription("etcd.v1", ""), csv)
	request := ctrl.Request{NamespacedName: types.NamespacedName{Name: name}}
	pass := func() {
		t.Helper()
		result, err := k.c.Reconcile(t.Context(), request)
		if err != nil || result.RequeueAfter != reconcile.QuietPeriod-time.Second {
			t.Fatalf("again after %s, %v", result.RequeueAfter, err)
		}
	}
	phase := func() string {
		o := k.operator(name)
		if o == nil || o.Status.Components == nil || len(o.Status.Components.Refs) != 1 || len(o.Status.Components.Refs[0].Conditions) != 1 {
			t.Fatalf("Operator %+v", o)
		}
		return o.Status.Components.Refs[0].Conditions[0].Type
	}
	if pass(); phase() != string(v1alpha1.CSVPhaseInstalling) {
		t.Errorf("phase %s", phase())
	}
	live := &v1alpha1.ClusterServiceVersion{}
	must.NoError(t, k.client.Get(t.Context(), client.ObjectKeyFromObject(csv), live))
	live.Status.Phase = v1alpha1.CSVPhasePending
	must.NoError(t, k.client.Update(t.Context(), live))
	if pass(); phase() != string(v1alpha1.CSVPhasePending) {
		t.Errorf("phase %s after a change", phase())
	}
	s := &v1alpha1.Subscription{}
	if err := k.client.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "sub"}, s); err != nil || len(s.Labels) > 0 {
		t.Errorf("labels %v, %v: they would conflict with the installation", s.Labels, err)
	}
	k.Taken()
	if pass(); len(k.Writes()) > 0 {
		t.Errorf("a pass without a change writes %v", k.Writes())
	}
	if settling >= time.Second {
		t.Errorf("a change is reported after %s, and a second is promised", settling)
	}
}
