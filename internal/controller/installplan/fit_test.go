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
	op.Spec.InstallStrategy.StrategyName = v1alpha1.InstallStrategyNameDeployment
	op.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind}
	manifest := must.Value(json.Marshal(op))(t)
	plan := newPlan(step(t, string(manifest)))
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	w := newWorld(t, plan)
	p := w.settle(t, time.Minute)
	for _, words := range []string{v1alpha1.NotWorthApproving, "ClusterServiceVersion op.v1", "AllNamespaces InstallModeType not supported", `apply {"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"group","namespace":"ns"},"spec":{"targetNamespaces":["ns"]}}`} {
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
	op.Spec.InstallStrategy.StrategyName = v1alpha1.InstallStrategyNameDeployment
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
	if !strings.HasPrefix(told, v1alpha1.NotWorthApproving) {
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

// TestFailuresAreToldBeforeApproval: of an operator that no cluster can install, and of one whose APIs another OperatorGroup provides. An automatic plan
// is carried out all the same: its ClusterServiceVersion says so then.
func TestFailuresAreToldBeforeApproval(t *testing.T) {
	long := "op." + strings.Repeat("n", 61)
	rival := &operatorsv1.OperatorGroup{}
	rival.Namespace, rival.Name, rival.Status.Namespaces = "elsewhere", "rival", []string{"elsewhere"}
	rival.Annotations = map[string]string{v1alpha1.ProvidedAPIsAnnotation: "Widget.v1.example.com"}
	for name, test := range map[string]struct {
		csv   string
		there []client.Object
		want  string
	}{
		"nothing": {csvYAML, nil, ""},
		"a name that is too long": {strings.Replace(csvYAML, "name: op.v1", "name: "+long, 1), nil, "ClusterServiceVersion " + long + " would fail once it is installed: " +
			"the name of the ClusterServiceVersion has 64 characters: as it is the value of labels, it may have 63; ask its author to correct it, or install another version"},
		"another strategy": {strings.Replace(csvYAML, "strategy: deployment", "strategy: magic", 1), nil,
			`ClusterServiceVersion op.v1 would fail once it is installed: spec.install.strategy "magic" is not known`},
		"an API of lifecycle management": {strings.Replace(csvYAML, "widgets.example.com", ownCRD, 1), nil,
			"the InstallPlan contains invalid data: ClusterServiceVersion op.v1: spec.customresourcedefinitions.owned: CustomResourceDefinition " + ownCRD},
		"another group provides it": {csvYAML, []client.Object{rival}, "ClusterServiceVersion op.v1 would fail once it is installed: " +
			"OperatorGroup elsewhere/rival provides Widget.v1.example.com too, and both it and OperatorGroup ns/group reach namespace elsewhere; give the two groups targets"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := newPlan(step(t, test.csv))
			plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
			w := newWorld(t, append(deepCopies(test.there), plan)...)
			p := w.settle(t, time.Minute)
			hasPhase(t, p, v1alpha1.InstallPlanPhaseRequiresApproval)
			want := test.want
			if want != "" {
				want = v1alpha1.NotWorthApproving + want
			}
			if !strings.HasPrefix(p.Status.Message, want) || want == "" && p.Status.Message != "" {
				t.Errorf("message %q, want %q", p.Status.Message, want)
			}
			w.Taken()
			w.settle(t, time.Minute)
			must.Empty(t, "it is written again", w.Taken())
		})
	}
}

// TestWhatAGroupElsewhereProvidesIsToldUntilItGoes: a change of that group wakes the plan, and what was said is withdrawn.
func TestWhatAGroupElsewhereProvidesIsToldUntilItGoes(t *testing.T) {
	rival := &operatorsv1.OperatorGroup{}
	rival.Namespace, rival.Name, rival.Status.Namespaces = "elsewhere", "rival", []string{"elsewhere"}
	rival.Annotations = map[string]string{v1alpha1.ProvidedAPIsAnnotation: "Widget.v1.example.com"}
	plan := newPlan(step(t, csvYAML))
	plan.Spec.Approval, plan.Spec.Approved = v1alpha1.ApprovalManual, false
	w := newWorld(t, rival, plan)
	must.Contain(t, "message", w.settle(t, time.Minute).Status.Message, "elsewhere/rival provides Widget.v1.example.com")
	w.get(t, rival, "elsewhere", "rival")
	rival.Annotations = nil
	must.NoError(t, w.Inner.Update(t.Context(), rival))
	must.Equal(t, "the group elsewhere wakes", len(w.watcher().inNamespace(t.Context(), rival)), 1)
	must.Equal(t, "message", w.settle(t, time.Minute).Status.Message, "")
	must.Empty(t, "nothing is told, and yet a group elsewhere wakes", w.watcher().inNamespace(t.Context(), rival))
}

// TestFailuresHoldNoAutomaticPlan: another group would not help, so the plan is carried out, and the ClusterServiceVersion says what is the matter.
func TestFailuresHoldNoAutomaticPlan(t *testing.T) {
	rival := &operatorsv1.OperatorGroup{}
	rival.Namespace, rival.Name, rival.Status.Namespaces = "elsewhere", "rival", []string{"elsewhere"}
	rival.Annotations = map[string]string{v1alpha1.ProvidedAPIsAnnotation: "Widget.v1.example.com"}
	hasPhase(t, newWorld(t, rival, newPlan(step(t, csvYAML))).settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}
