package reconcile

import (
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestUpgradeRules: the cluster, the namespace and the object each override the one before.
func TestUpgradeRules(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	window := func(text string) map[string]string { return map[string]string{schedule.WindowKey: text} }
	config := &operatorsv1.OLMConfig{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Annotations: window("daily 20:00-21:00 UTC"), Labels: map[string]string{schedule.RingLabel: "late"}}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Annotations: window("daily 22:00-23:00 UTC")}}
	c := fake.NewClientBuilder().WithScheme(fakeapi.Scheme(operatorsv1.AddToScheme, corev1.AddToScheme)).WithObjects(config, namespace).Build()
	until := func(r UpgradeRules, annotations map[string]string) string {
		held := schedule.Judge(now, schedule.Upgrade{Rules: r.For("Subscription a", annotations)})
		if held == nil {
			return ""
		}
		return held.Until.UTC().Format("15:04")
	}
	ofNamespace := must.Value(ReadUpgradeRules(t.Context(), c, "ns"))(t)
	must.Equal(t, "of the namespace", until(ofNamespace, nil), "22:00")
	must.Equal(t, "of the object", until(ofNamespace, window("always")), "")
	must.Equal(t, "of the ring", until(ofNamespace, window("daily 01:00-02:00 UTC; ring early from 2026-01-01 UTC; ring late from 2026-11-30 01:30 UTC")), "01:30")
	must.Equal(t, "of the cluster", until(must.Value(ReadUpgradeRules(t.Context(), c, "other"))(t), nil), "20:00")
	must.NoError(t, c.Delete(t.Context(), config))
	must.Equal(t, "of nothing", until(must.Value(ReadUpgradeRules(t.Context(), c, "other"))(t), nil), "")

	must.Equal(t, "at the instant", UntilUpgrade(&schedule.Held{Until: now.Add(90 * time.Second)}, now), 90*time.Second)
	must.Equal(t, "sooner than a clock may be set", UntilUpgrade(&schedule.Held{Until: now.AddDate(300, 0, 0)}, now), time.Hour)
	must.Equal(t, "never", UntilUpgrade(&schedule.Held{}, now), 0)

	plain := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"a": "b"}}}
	must.Equal(t, "another window", UpgradeRulesChanged.Update(event.UpdateEvent{ObjectOld: plain, ObjectNew: namespace}), true)
	must.Equal(t, "another label", UpgradeRulesChanged.Update(event.UpdateEvent{ObjectOld: &corev1.Namespace{}, ObjectNew: plain}), false)
	must.Equal(t, "another ring", UpgradeRulesChanged.Update(event.UpdateEvent{ObjectOld: &operatorsv1.OLMConfig{}, ObjectNew: config}), true)
	for _, o := range []client.Object{plain, namespace} {
		says := o.GetAnnotations() != nil
		must.Equal(t, "comes", UpgradeRulesChanged.Create(event.CreateEvent{Object: o}), says)
		must.Equal(t, "is found at the start", UpgradeRulesChanged.Create(event.CreateEvent{Object: o, IsInInitialList: true}), false)
		must.Equal(t, "goes", UpgradeRulesChanged.Delete(event.DeleteEvent{Object: o}), says)
	}
}
