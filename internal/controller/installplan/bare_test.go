package installplan

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestAPlanWithoutContentIsLeftToItsWriter: a tool that creates a plan and then writes its steps meets no conflict, however long it takes.
func TestAPlanWithoutContentIsLeftToItsWriter(t *testing.T) {
	w := newWorld(t, append([]client.Object{handMade("Automatic")}, objects...)...)
	w.shop(t, "ns", "cat", whole...)
	before := w.plan(t, "plan").ResourceVersion
	result, err := w.reconcile(t)
	if err != nil || result.RequeueAfter != stepsDue {
		t.Fatalf("got %+v, %v; want another look after %v", result, err, stepsDue)
	}
	w.Clock.SetTime(epoch.Add(stepsDue))
	must.Value(w.reconcile(t))(t)
	select {
	case event := <-w.Events.Events:
		must.Contain(t, "the event", event, "NothingToInstall")
		must.Contain(t, "the event", event, "write the steps")
	default:
		t.Error("that nothing comes is not reported")
	}
	w.Clock.SetTime(epoch.Add(2 * time.Hour))
	if _, err := w.reconcile(t); err != nil || len(w.Events.Events) != 0 {
		t.Errorf("it is reported for ever: %v", err)
	}
	plan := w.plan(t, "plan")
	if writes := w.Taken(); len(writes) != 0 || plan.ResourceVersion != before {
		t.Fatalf("the plan was written: %v", writes)
	}
	plan.Status = v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, CatalogSources: []string{}, Plan: []*v1alpha1.Step{withoutOperator(step(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`))}}
	must.NoErrorf(t, w.Inner.Status().Update(t.Context(), plan), "its writer meets")
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || !w.get(t, &corev1.ConfigMap{}, "ns", "c") {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}

// TestANamedPlanIsTakenUpAtOnce: names that are added to a plan without content are resolved.
func TestANamedPlanIsTakenUpAtOnce(t *testing.T) {
	w := newWorld(t, append([]client.Object{handMade("Automatic")}, objects...)...)
	w.shop(t, "ns", "cat", whole...)
	must.Value(w.reconcile(t))(t)
	plan := w.plan(t, "plan")
	plan.Spec.ClusterServiceVersionNames = []string{"lone.v1.0.0"}
	must.NoError(t, w.Inner.Update(t.Context(), plan))
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}

// withoutOperator is a step that names no operator.
func withoutOperator(s *v1alpha1.Step) *v1alpha1.Step {
	s.Resolving = ""
	return s
}

// TestStepsOfNoOperator are carried out as what they are: nothing owns their objects, and nothing says that an operator does.
func TestStepsOfNoOperator(t *testing.T) {
	var steps []*v1alpha1.Step
	for _, manifest := range []string{crdYAML, serviceYAML, secretYAML, accountYAML, roleYAML, clusterRoleYAML, priorityYAML, budgetYAML} {
		steps = append(steps, withoutOperator(step(t, manifest)))
	}
	plan := newPlan(steps...)
	plan.Spec.ClusterServiceVersionNames = nil
	w := newWorld(t, plan)
	p := w.settle(t, time.Minute)
	hasPhase(t, p, v1alpha1.InstallPlanPhaseComplete)
	service, role, crd := &corev1.Service{}, &rbacv1.ClusterRole{}, &apiextensionsv1.CustomResourceDefinition{}
	for object, namespace := range map[client.Object]string{service: "ns", role: "", crd: ""} {
		name := map[client.Object]string{service: "web", role: "op.v1-1", crd: "widgets.example.com"}[object]
		if !w.get(t, object, namespace, name) {
			t.Fatalf("%T %s does not exist", object, name)
		}
		must.Empty(t, name+" is owned by", object.GetOwnerReferences())
		for key, value := range object.GetLabels() {
			if strings.HasPrefix(key, v1alpha1.OwnerLabel) {
				t.Errorf("label %s=%q of %s", key, value, name)
			}
		}
		for key := range object.GetAnnotations() {
			if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) {
				t.Errorf("annotation %s of %s", key, name)
			}
		}
		must.Equal(t, name+" does not say that it is managed", object.GetLabels()[v1alpha1.ManagedLabel], v1alpha1.ManagedLabelValue)
	}
}

// TestWhoWritesAPlanMayListAnotherVersion: of a plan that is written by hand the manifest decides on group and version, and of one of a
// Subscription the list does, which was approved.
func TestWhoWritesAPlanMayListAnotherVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.Step)
		byHand bool
		want   string // in the message; empty when it is carried out
	}{
		"an older version":                     {func(s *v1alpha1.Step) { s.Resource.Version = "v1beta1" }, true, ""},
		"the group of another time":            {func(s *v1alpha1.Step) { s.Resource.Group = "extensions" }, true, ""},
		"another kind":                         {func(s *v1alpha1.Step) { s.Resource.Kind = "ConfigMap" }, true, "the step lists policy/v1, Kind=ConfigMap op, but its manifest is policy/v1, Kind=PodDisruptionBudget op"},
		"another name":                         {func(s *v1alpha1.Step) { s.Resource.Name = "other" }, true, "the step lists policy/v1, Kind=PodDisruptionBudget other"},
		"an older version, of a Subscription":  {func(s *v1alpha1.Step) { s.Resource.Version = "v1beta1" }, false, "the step lists policy/v1beta1, Kind=PodDisruptionBudget op"},
		"the same, as a Subscription makes it": {func(*v1alpha1.Step) {}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := step(t, budgetYAML)
			tc.change(s)
			plan := newPlan(step(t, csvYAML), s)
			if !tc.byHand {
				plan.OwnerReferences = append(plan.OwnerReferences, metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Name: "s", UID: "uid-s"})
			}
			w := newWorld(t, plan)
			p := w.settle(t, 2*time.Minute)
			if tc.want == "" && p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || !strings.Contains(p.Status.Message, tc.want) {
				t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
			}
		})
	}
}

// TestAStaleSearchIsNotReported: that no steps were found says nothing once their writer has written them.
func TestAStaleSearchIsNotReported(t *testing.T) {
	for _, phase := range []v1alpha1.InstallPlanPhase{v1alpha1.InstallPlanPhaseInstalling, v1alpha1.InstallPlanPhaseComplete} {
		plan := newPlan(step(t, csvYAML))
		plan.Status.Phase = phase
		plan.Status.Conditions = []v1alpha1.InstallPlanCondition{v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanResolved, v1alpha1.InstallPlanReasonPlanUnknown, "no catalog has it")}
		w := newWorld(t, plan)
		p := w.settle(t, time.Minute)
		must.Equal(t, "phase", p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
		must.Equal(t, "reason", p.Status.GetCondition(v1alpha1.InstallPlanResolved).Reason, "")
	}
}
