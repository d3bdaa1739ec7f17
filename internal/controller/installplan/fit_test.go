package installplan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMisfitsAreToldBeforeApproval: which operator could not run, and the group that would do; nothing is done about it, and it is taken
// back once the group fits.
func TestMisfitsAreToldBeforeApproval(t *testing.T) {
	op := csv("ns", "op.v1", "")
	op.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}}
	op.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind}
	manifest := must.Value(json.Marshal(op))(t)
	plan := newPlan(step(t, string(manifest)))
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	w := newWorld(t, plan)
	p := w.settle(t, time.Minute)
	for _, words := range []string{misfitPrefix, "ClusterServiceVersion op.v1", "AllNamespaces InstallModeType not supported", `apply {"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"group","namespace":"ns"},"spec":{"targetNamespaces":["ns"]}}`} {
		must.Contain(t, "message", p.Status.Message, words)
	}
	if p.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval || p.Status.StartTime != nil {
		t.Errorf("%+v", p.Status)
	}
	w.Taken()
	w.settle(t, time.Minute)
	must.Empty(t, "it is written again", w.Taken())
	group := &operatorsv1.OperatorGroup{}
	must.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "group"}, group))
	group.Status.Namespaces = []string{"ns"}
	must.NoError(t, w.Inner.Update(t.Context(), group))
	must.Equal(t, "message", w.settle(t, time.Minute).Status.Message, "")
}

// TestMisfitsStayWhileNothingIsKnown: a ClusterServiceVersion that cannot be read is no reason to take back what was said of it.
func TestMisfitsStayWhileNothingIsKnown(t *testing.T) {
	op := csv("ns", "op.v1", "")
	op.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeOwnNamespace, Supported: true}}
	op.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind}
	manifest, err := json.Marshal(op)
	if err != nil {
		t.Fatal(err)
	}
	s := step(t, string(manifest))
	s.Resource.Manifest = "ref:op"
	plan := newPlan(s)
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	w := newWorld(t, plan)
	w.store["ref:op"] = string(manifest)
	told := w.settle(t, time.Minute).Status.Message
	if !strings.HasPrefix(told, misfitPrefix) {
		t.Fatalf("message %q", told)
	}
	delete(w.store, "ref:op")
	must.Equal(t, "message", w.settle(t, time.Minute).Status.Message, told)
	op.Spec.InstallModes = []v1alpha1.InstallMode{{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true}}
	if manifest, err = json.Marshal(op); err != nil {
		t.Fatal(err)
	}
	w.store["ref:op"] = string(manifest)
	must.Equal(t, "message", w.settle(t, time.Minute).Status.Message, "")
}

// TestMisfitsHoldAutomaticPlans: nothing is written of an operator that could not run in the targets of the group. The plan says which group
// would do, is not tried in vain meanwhile, never fails for it, and goes on once the group fits.
func TestMisfitsHoldAutomaticPlans(t *testing.T) {
	own := strings.Replace(csvYAML, "type: AllNamespaces", "type: OwnNamespace", 1)
	w := newWorld(t, newPlan(step(t, own), step(t, crdYAML), step(t, accountYAML)))
	p := w.settle(t, 24*time.Hour)
	const words = `waiting for an OperatorGroup that fits: ClusterServiceVersion op.v1: AllNamespaces InstallModeType not supported, cannot configure to watch all namespaces; ` +
		`the operator supports OwnNamespace: apply {"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"group","namespace":"ns"},"spec":{"targetNamespaces":["ns"]}}`
	must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseInstalling)
	must.Equal(t, "message", p.Status.Message, words)
	if c, some := v1alpha1.NewInstallPlanCondition(&p.Status); !some || c.Message != words || c.Type != v1alpha1.SubscriptionInstallPlanPending {
		t.Errorf("a Subscription would say %+v", c)
	}
	for _, write := range w.Taken() {
		must.Equal(t, "write", write, reported)
	}
	w.Clock.SetTime(w.Clock.Now().Add(time.Hour))
	if result, err := w.reconcile(t); err != nil || result.RequeueAfter > 0 || len(w.Taken()) > 0 {
		t.Errorf("again after %s (%v), or written again", result.RequeueAfter, err)
	}
	group := &operatorsv1.OperatorGroup{}
	w.get(t, group, "ns", "group")
	group.Status.Namespaces = []string{"ns"}
	must.NoError(t, w.Inner.Update(t.Context(), group))
	must.Equal(t, "the group wakes", len(w.watcher().inNamespace(t.Context(), group)), 1)
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || p.Status.Message != "" || p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Status != "True" {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}

// TestAnOperatorThatIsThereHoldsNothing: what became of a group after the operator was made is for its ClusterServiceVersion to say.
func TestAnOperatorThatIsThereHoldsNothing(t *testing.T) {
	own := strings.Replace(csvYAML, "type: AllNamespaces", "type: OwnNamespace", 1)
	plan := newPlan(step(t, own), step(t, accountYAML))
	plan.Status.Plan[0].Status = v1alpha1.StepStatusCreated
	w := newWorld(t, csv("ns", "op.v1", "", "widgets.example.com"), plan)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}
