package attack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// TestLargePlansStarveANamespace: a user with edit rights subscribes to bundles whose plan is larger than etcd takes, or whose objects the API server
// never takes. Each is reported on its own Subscription, and the Subscription of a harmless operator beside them is carried out.
func TestLargePlansStarveANamespace(t *testing.T) {
	w := sharedWorld(t)
	namespace := w.namespace("attack-large")
	w.group(namespace, "")
	w.bind(namespace, "mallory", "edit")
	var maps []string
	for i := range 900 {
		maps = append(maps, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bulk-%d"},"data":{"text":%q}}`, i, strings.Repeat("x", 1900)))
	}
	long := strings.Repeat("long", 20)
	w.shop(namespace, map[string][]string{
		"bulky": goods("bulky", nil, maps...),
		"huge":  goods("huge", func(csv *v1alpha1.ClusterServiceVersion) { csv.Spec.Description = strings.Repeat("x", 2_250_000) }),
		"long":  goods("long", func(csv *v1alpha1.ClusterServiceVersion) { csv.Labels = map[string]string{"note": long} }),
		"good":  goods("good", nil),
	})
	mallory := harness.ClientOf(t, w.as("mallory"))
	for name, approval := range map[string]v1alpha1.Approval{"bulky": v1alpha1.ApprovalManual, "huge": v1alpha1.ApprovalAutomatic, "long": v1alpha1.ApprovalAutomatic, "good": v1alpha1.ApprovalAutomatic} {
		harness.Create(t, mallory, order(namespace, name, approval))
	}
	w.planOf(namespace, "good", "to be complete", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete })

	bulky := w.planOf(namespace, "bulky", "to wait for approval", func(p *v1alpha1.InstallPlan) bool { return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval })
	text, err := json.Marshal(bulky)
	if err != nil || len(text) > 1<<20 || len(bulky.Status.Plan) != 901 {
		t.Errorf("%v: the plan has %d bytes and %d steps", err, len(text), len(bulky.Status.Plan))
	}
	for name, want := range map[string]string{"huge": "etcd takes at most 1572864 in one request", "long": `the value of label "note": must be no more than 63`} {
		failed := w.planOf(namespace, name, "to fail for good", func(p *v1alpha1.InstallPlan) bool {
			return p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Reason == v1alpha1.InstallPlanReasonContentInvalid
		})
		if !strings.Contains(failed.Status.Message, want) || len(failed.Status.Plan) > 0 {
			t.Errorf("%s: %d steps, %s", name, len(failed.Status.Plan), failed.Status.Message)
		}
		must.Eventually(t, "the Subscription to say it", func() error {
			sub := &v1alpha1.Subscription{}
			harness.Read(t, w, namespace, name, sub)
			said := fmt.Sprint(sub.Status.Conditions)
			if !strings.Contains(said, want) || !strings.Contains(said, "no other plan is made for the same content") {
				return fmt.Errorf("it says %s", said)
			}
			return nil
		})
		if harness.Read(t, w, namespace, name+".v1.0.0", &v1alpha1.ClusterServiceVersion{}) {
			t.Errorf("ClusterServiceVersion %s.v1.0.0 was made", name)
		}
	}
}
