package installplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

func statuses(p *v1alpha1.InstallPlan) map[string]v1alpha1.StepStatus {
	out := map[string]v1alpha1.StepStatus{}
	for _, s := range p.Status.Plan {
		out[s.Resource.Kind] = s.Status
	}
	return out
}

func TestPlanIsCarriedOutInOnePass(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	result, err := w.reconcile(t)
	if err != nil || result.RequeueAfter != 0 {
		t.Fatalf("%v, again after %s", err, result.RequeueAfter)
	}
	p := w.plan(t, "plan")
	if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || p.Status.Message != "" {
		t.Fatalf("phase %s: %s", p.Status.Phase, p.Status.Message)
	}
	for kind, status := range statuses(p) {
		must.Equal(t, kind, status, v1alpha1.StepStatusCreated)
	}
	writes := w.Taken()
	if n := len(writes); n != len(p.Status.Plan)+1 || writes[n-1] != reported {
		t.Errorf("%d writes: %v", n, writes)
	}
	if slices.Index(writes, "create CustomResourceDefinition widgets.example.com") > slices.Index(writes, "create ClusterServiceVersion op.v1") || slices.Index(writes, "create ClusterServiceVersion op.v1") > slices.Index(writes, "create Service web") {
		t.Errorf("order of writes: %v", writes)
	}
	if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 {
		t.Errorf("a finished plan is written again: %v", err)
	}
}

func TestWhatStepsBecome(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	w.settle(t, time.Minute)
	csv := &v1alpha1.ClusterServiceVersion{}
	w.get(t, csv, "ns", "op.v1")
	owned := map[string]client.Object{
		"web": &corev1.Service{}, "keys": &corev1.Secret{}, "op": &corev1.ServiceAccount{}, "op.v1-op-1": &rbacv1.Role{},
	}
	for name, o := range owned {
		if !w.get(t, o, "ns", name) {
			t.Errorf("%s does not exist", name)
			continue
		}
		refs := o.GetOwnerReferences()
		if len(refs) != 1 || refs[0].UID != csv.UID || refs[0].Kind != v1alpha1.ClusterServiceVersionKind || csv.UID == "" {
			t.Errorf("owners of %s: %v", name, refs)
		}
	}
	cluster := map[string]client.Object{"op.v1-1": &rbacv1.ClusterRole{}, "urgent": &schedulingv1.PriorityClass{}}
	for name, o := range cluster {
		want := map[string]string{"olm.managed": "true", "olm.owner": "op.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion"}
		if !w.get(t, o, "", name) || len(o.GetOwnerReferences()) != 0 {
			t.Errorf("%s: owners %v", name, o.GetOwnerReferences())
		}
		must.Equal(t, name, o.GetLabels(), want)
	}
	sub := &v1alpha1.Subscription{}
	if !w.get(t, sub, "ns", "dep") || sub.Annotations["olm.generated-by"] != "plan" || sub.Labels["olm.managed"] != "true" || len(sub.OwnerReferences) != 0 {
		t.Errorf("Subscription: %v", sub.ObjectMeta)
	}
	pull := &corev1.Secret{}
	if !w.get(t, pull, "ns", "pull") || pull.Type != corev1.SecretTypeDockerConfigJson || string(pull.Data[corev1.DockerConfigJsonKey]) != "{}" {
		t.Errorf("pull secret: %v", pull)
	}
	must.Equal(t, "labels", csv.Labels["olm.managed"], "true")
	must.Empty(t, "owner references", csv.OwnerReferences)
	member := map[string]string{"olm.operatorGroup": "group", "olm.operatorNamespace": "ns", "olm.targetNamespaces": ""}
	must.Equal(t, "annotations of the ClusterServiceVersion", csv.Annotations, member)
}

func TestExistingObjectsAreTakenOver(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{"theirs": "x", "olm.managed": "true"}}}
	service.Spec.Ports = []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}
	old := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op.v0", UID: "uid-old"}}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op", Annotations: map[string]string{"role": "arn"}}}
	sa.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "op.v0", UID: "uid-old"}}
	sa.Secrets = []corev1.ObjectReference{{Name: "token"}}
	existing := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op.v1", UID: "uid-csv"}}
	existing.Spec.DisplayName = "edited"
	w := newWorld(t, wholePlan(t), pullSecret(), service, old, sa, existing)
	p := w.settle(t, time.Minute)
	got := statuses(p)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || got["Service"] != v1alpha1.StepStatusPresent || got["ClusterServiceVersion"] != v1alpha1.StepStatusPresent {
		t.Fatalf("%s %s: %v", p.Status.Phase, p.Status.Message, got)
	}
	w.get(t, service, "ns", "web")
	if service.Labels["theirs"] != "x" || service.Labels["olm.managed"] != "true" || service.Spec.Selector["app"] != "op" {
		t.Errorf("Service: %v %v", service.Labels, service.Spec.Selector)
	}
	w.get(t, sa, "ns", "op")
	if len(sa.OwnerReferences) != 2 || sa.Annotations["role"] != "arn" || len(sa.Secrets) != 1 {
		t.Errorf("ServiceAccount: %v %v", sa.ObjectMeta, sa.Secrets)
	}
	w.get(t, existing, "ns", "op.v1")
	must.Equal(t, "a ClusterServiceVersion that exists was changed", existing.Spec.DisplayName, "edited")
}

func TestObstacles(t *testing.T) {
	other := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other.v1", UID: "uid-other"}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}}
	service.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind, Name: "other.v1", UID: "uid-other"}}
	opaque := pullSecret()
	opaque.Type = corev1.SecretTypeOpaque
	unnamed := pullSecret() // a pull secret in the namespace of the manager, of a catalog that the plan does not use or of none
	unnamed.Name = "of-the-manager"
	copying := wholePlan(t).Status.Plan[0].DeepCopy()
	copying.Resource.Name = unnamed.Name
	twice := step(t, serviceYAML)
	twice.Resource.Name = "approved"
	config := step(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}`)
	odd := &v1alpha1.Step{Resolving: "op.v1", Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{Kind: "Pod", Name: "p", Version: "v1"}}
	lost := step(t, serviceYAML)
	lost.Resource.Manifest = "ref:lost"
	labelled := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "op.v1-1", Labels: map[string]string{
		v1alpha1.OwnerLabel: "other.v1", v1alpha1.OwnerNamespaceLabel: "ns", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind,
	}}}
	controlled := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}}
	controlled.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "x", UID: "x", Controller: new(true)}}
	tests := map[string]struct {
		objects []client.Object
		steps   []*v1alpha1.Step
		message string
		status  v1alpha1.StepStatus // of the last step
	}{
		"labelled by another operator": {[]client.Object{other, labelled}, []*v1alpha1.Step{step(t, csvYAML), step(t, clusterRoleYAML)},
			"ClusterRole op.v1-1 is wanted by ClusterServiceVersion op.v1 but belongs to ClusterServiceVersion ns/other.v1", v1alpha1.StepStatusUnknown},
		"controlled by something else": {[]client.Object{controlled}, []*v1alpha1.Step{step(t, csvYAML), step(t, serviceYAML)},
			"but is controlled by Deployment x", v1alpha1.StepStatusUnknown},
		"owned by another operator": {[]client.Object{other, service}, []*v1alpha1.Step{step(t, csvYAML), step(t, serviceYAML)},
			"Service ns/web is wanted by ClusterServiceVersion op.v1 but belongs to ClusterServiceVersion ns/other.v1", v1alpha1.StepStatusUnknown},
		"unsupported kind": {nil, []*v1alpha1.Step{step(t, csvYAML), odd},
			"the InstallPlan contains invalid data: steps of kind Pod are not supported (p)", v1alpha1.StepStatusUnsupportedResource},
		"another object than was approved": {nil, []*v1alpha1.Step{step(t, csvYAML), twice},
			"the InstallPlan contains invalid data: the step lists /v1, Kind=Service approved, but its manifest is /v1, Kind=Service web", v1alpha1.StepStatusUnknown},
		"lost manifest": {nil, []*v1alpha1.Step{step(t, csvYAML), lost},
			"read the manifest of Service web: the content store no longer holds the manifest", v1alpha1.StepStatusUnknown},
		"secret that is no pull secret": {[]client.Object{opaque}, []*v1alpha1.Step{step(t, csvYAML), wholePlan(t).Status.Plan[0]},
			"secret olm/pull is of type Opaque, and only pull secrets are copied", v1alpha1.StepStatusUnknown},
		"secret of no catalog of the plan": {[]client.Object{unnamed}, []*v1alpha1.Step{step(t, csvYAML), copying},
			"no catalog of the plan in namespace olm names it in spec.secrets", v1alpha1.StepStatusUnknown},
		"no operator to belong to": {nil, []*v1alpha1.Step{config}, "look up its owner ClusterServiceVersion op.v1", v1alpha1.StepStatusNotPresent},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			plan := newPlan(tc.steps...).DeepCopy()
			w := newWorld(t, append(deepCopies(tc.objects), plan)...)
			p := w.settle(t, 2*time.Minute)
			must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseFailed)
			must.Contain(t, "message", p.Status.Message, tc.message)
			if c := p.Status.GetCondition(v1alpha1.InstallPlanInstalled); c.Reason != v1alpha1.InstallPlanReasonComponentFailed || c.Message != p.Status.Message {
				t.Errorf("condition %v", c)
			}
			must.Equal(t, "status", p.Status.Plan[len(p.Status.Plan)-1].Status, tc.status)
			for _, write := range w.Taken() {
				must.Equal(t, "half installed", write, reported)
			}
		})
	}
}

func deepCopies(objects []client.Object) []client.Object {
	var out []client.Object
	for _, o := range objects {
		out = append(out, o.DeepCopyObject().(client.Object))
	}
	return out
}

// TestOperatorInTwoNamespaces has the same operator in another namespace, and with it the same ClusterRole.
func TestOperatorInTwoNamespaces(t *testing.T) {
	elsewhere := csv("elsewhere", "op.v1", "")
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "op.v1-1", Labels: map[string]string{
		v1alpha1.OwnerLabel: "op.v1", v1alpha1.OwnerNamespaceLabel: "elsewhere", v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind,
	}}}
	w := newWorld(t, wholePlan(t), pullSecret(), elsewhere, role)
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
	w.get(t, role, "", role.Name)
	must.Equal(t, "labels", role.Labels[v1alpha1.OwnerNamespaceLabel], "ns")
}

func TestErrorsThatPassAreForgotten(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	w.Fault(func(what string, _ bool) error {
		if what == "create Service web" {
			return errors.New("webhook is not ready")
		}
		return nil
	})
	p := w.settle(t, 30*time.Second)
	want := "retrying execution due to error: create Service ns/web: webhook is not ready"
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || p.Status.Message != want {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	if got := statuses(p)["Service"]; got != v1alpha1.StepStatusNotPresent {
		t.Errorf("step is %s", got)
	}
	w.Fault(nil)
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || p.Status.Message != "" || statuses(p)["Service"] != v1alpha1.StepStatusCreated {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}

func TestRepeatedFailureWritesOnce(t *testing.T) {
	w := newWorld(t, wholePlan(t), pullSecret())
	w.Fault(func(what string, _ bool) error {
		if what == "create Service web" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New("no"))
		}
		return nil
	})
	w.settle(t, time.Second)
	w.Taken()
	w.settle(t, 20*time.Minute)
	for _, write := range w.Taken() {
		must.Equal(t, "write while nothing changes", write, "create Service web")
	}
}

// limitedWorld has an OperatorGroup with a service account whose client is denied what deny says.
func limitedWorld(t *testing.T, deny func(what string) error, objects ...client.Object) *world {
	t.Helper()
	w := newWorld(t, objects...)
	group := &operatorsv1.OperatorGroup{}
	w.get(t, group, "ns", "group")
	group.Spec.ServiceAccountName, group.Status.ServiceAccountRef = "limited", account
	must.NoError(t, w.Inner.Update(t.Context(), group))
	w.controller.Accounts = accountClients{denied{w.WithWatch, deny}}
	return w
}

type accountClients struct{ limited client.Client }

func (a accountClients) Client(_ context.Context, namespace, name string) (client.Client, error) {
	if namespace != "ns" || name != "limited" {
		return nil, fmt.Errorf("unexpected account %s/%s", namespace, name)
	}
	return a.limited, nil
}

// denied is the client of a service account. It tells creations and applications apart that are dry runs, as the notes of the API server do not.
type denied struct {
	client.Client
	deny func(what string) error
}

func (d denied) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := d.deny("create " + o.GetName()); err != nil {
		return err
	}
	return d.Client.Create(ctx, o, opts...)
}

func (d denied) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := d.deny("apply " + o.(interface{ GetName() string }).GetName()); err != nil {
		return err
	}
	return d.Client.Apply(ctx, o, opts...)
}

func TestLimitedPlan(t *testing.T) {
	allowed := false
	var asked []string
	deny := func(what string) error {
		asked = append(asked, what)
		if what != "create op.v1-1" || allowed {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Group: rbacv1.GroupName, Resource: "clusterroles"}, "op.v1-1",
			errors.New(`User "system:serviceaccount:ns:limited" cannot create resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope`))
	}
	w := limitedWorld(t, deny, wholePlan(t), pullSecret())
	w.controller.engine.Parallel = 1
	p := w.settle(t, time.Hour)
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || !strings.Contains(p.Status.Message, `cannot create resource "clusterroles" in API group "rbac.authorization.k8s.io"`) {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	must.Equal(t, "attenuated service account ref", p.Status.AttenuatedServiceAccountRef, account)
	if slices.Contains(asked, "create widgets.example.com") || !slices.Contains(asked, "create op.v1") {
		t.Errorf("the account was asked for %v", asked)
	}
	allowed = true
	requests := w.watcher().limitedBy(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "any"}})
	if len(requests) != 1 || requests[0].Name != "plan" {
		t.Fatalf("RBAC wakes %v", requests)
	}
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}

func TestFailedLimitedPlanIsRevivedByRBAC(t *testing.T) {
	broken := true
	deny := func(what string) error {
		if broken && what == "create web" {
			return errors.New("boom")
		}
		return nil
	}
	w := limitedWorld(t, deny, wholePlan(t), pullSecret())
	hasPhase(t, w.settle(t, time.Hour), v1alpha1.InstallPlanPhaseFailed)
	broken = false
	if p := w.settle(t, time.Hour); p.Status.Phase != v1alpha1.InstallPlanPhaseFailed {
		t.Fatalf("without reason: %s", p.Status.Phase)
	}
	w.watcher().limitedBy(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "any"}})
	hasPhase(t, w.settle(t, time.Hour), v1alpha1.InstallPlanPhaseComplete)
}

func TestOperatorGroupProblems(t *testing.T) {
	second := &operatorsv1.OperatorGroup{}
	second.Namespace, second.Name = "ns", "second"
	w := newWorld(t, wholePlan(t), pullSecret(), second)
	p := w.settle(t, time.Minute)
	if c := p.Status.GetCondition(v1alpha1.InstallPlanInstalled); c.Message != twoGroups || c.Status != corev1.ConditionFalse {
		t.Errorf("condition %v", c)
	}
	if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", "op.v1") {
		t.Errorf("%s, or a ClusterServiceVersion was made", p.Status.Phase)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), second))
	if requests := w.watcher().inNamespace(t.Context(), second); len(requests) != 1 {
		t.Fatalf("the OperatorGroup wakes %v", requests)
	}
	hasPhase(t, w.settle(t, time.Minute), v1alpha1.InstallPlanPhaseComplete)
}

func TestKindsThatTheClusterDoesNotKnow(t *testing.T) {
	unknown := func(group string) func(client.Object, string) error {
		return func(o client.Object, _ string) error {
			if gvk := o.GetObjectKind().GroupVersionKind(); gvk.Group == group {
				return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
			}
			return nil
		}
	}
	t.Run("an integration is left out", func(t *testing.T) {
		w := newWorld(t, newPlan(step(t, csvYAML), step(t, ruleYAML), step(t, serviceYAML)))
		w.Read = unknown("monitoring.coreos.com")
		p := w.settle(t, time.Minute)
		must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseComplete)
		must.Equal(t, "message", p.Status.Message, "left out, because the operator does without: PrometheusRule alerts")
		if want := "api-server resource not found installing PrometheusRule alerts: GroupVersionKind monitoring.coreos.com/v1, Kind=PrometheusRule not found on the cluster. "; !strings.Contains(<-w.Events.Events, want) {
			t.Error("no Event says why")
		}
		if got := statuses(p); got["PrometheusRule"] != v1alpha1.StepStatusNotCreated || got["Service"] != v1alpha1.StepStatusCreated {
			t.Errorf("steps %v", got)
		}
	})
	t.Run("an integration that the plan brings is waited for", func(t *testing.T) {
		crd := strings.NewReplacer("widgets.example.com", "prometheusrules.monitoring.coreos.com", "example.com", "monitoring.coreos.com",
			"kind: Widget,", "kind: PrometheusRule,").Replace(crdYAML)
		w := newWorld(t, newPlan(step(t, csvYAML), step(t, crd), step(t, ruleYAML)))
		w.Read = unknown("monitoring.coreos.com")
		hasPhase(t, w.settle(t, 10*time.Second), v1alpha1.InstallPlanPhaseInstalling)
		requests := w.watcher().waitingFor(t.Context(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "prometheusrules.monitoring.coreos.com"}})
		must.Equal(t, "the CRD wakes", len(requests), 1)
		w.Read = nil
		if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || statuses(p)["PrometheusRule"] != v1alpha1.StepStatusCreated {
			t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
		}
	})
	t.Run("anything else fails", func(t *testing.T) {
		w := newWorld(t, newPlan(step(t, csvYAML), step(t, budgetYAML)))
		w.Read = unknown("policy")
		p := w.settle(t, 2*time.Minute)
		want := "api-server resource not found installing PodDisruptionBudget op: GroupVersionKind policy/v1, Kind=PodDisruptionBudget not found on the cluster. "
		if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.HasPrefix(p.Status.Message, want) {
			t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
		}
	})
}

func TestOptionalStepMayFail(t *testing.T) {
	optional := step(t, priorityYAML)
	optional.Optional = true
	w := newWorld(t, newPlan(step(t, csvYAML), optional, step(t, serviceYAML)))
	w.Fault(func(what string, _ bool) error {
		if what == "create PriorityClass urgent" {
			return errors.New("boom")
		}
		return nil
	})
	p := w.settle(t, time.Minute)
	if got := statuses(p); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || got["PriorityClass"] != v1alpha1.StepStatusNotCreated || got["Service"] != v1alpha1.StepStatusCreated {
		t.Errorf("%s: %v", p.Status.Phase, got)
	}
}

func TestWarningsBecomeEvents(t *testing.T) {
	strange := step(t, strings.Replace(serviceYAML, "selector:", "selektor:", 1))
	there := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", Labels: map[string]string{"olm.managed": "true"}}}
	w := newWorld(t, there, newPlan(step(t, csvYAML), strange))
	w.settle(t, time.Minute)
	want := `Warning AppliedWithWarnings 1 warning(s) generated during installation of operator "op.v1" (Service "web"): unknown field "spec.selektor"`
	select {
	case got := <-w.Events.Events:
		if got != want {
			t.Errorf("event %q", got)
		}
	default:
		t.Error("no event")
	}
	if n := len(w.Events.Events); n != 0 {
		t.Errorf("%d more events", n)
	}
}

func TestManualApproval(t *testing.T) {
	plan := wholePlan(t)
	plan.Spec.Approval, plan.Spec.Approved, plan.Status.Phase = v1alpha1.ApprovalManual, false, v1alpha1.InstallPlanPhaseRequiresApproval
	w := newWorld(t, plan, pullSecret())
	if _, err := w.reconcile(t); err != nil {
		t.Fatal(err)
	}
	must.Equal(t, "writes about an unapproved plan: the verdict", w.Taken(), []string{"patch status InstallPlan plan"})
	if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 {
		t.Fatalf("an unapproved plan causes writes: %v", err)
	}
	p := w.plan(t, "plan")
	p.Spec.Approved = true
	must.NoError(t, w.Inner.Update(t.Context(), p))
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete || p.Status.StartTime == nil {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}

func TestPlansWithoutSteps(t *testing.T) {
	plan := newPlan()
	plan.OwnerReferences = []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "Subscription", Name: "op", UID: "uid-sub"}}
	w := newWorld(t, plan)
	if result, err := w.reconcile(t); err != nil || result.RequeueAfter != stepsDue || len(w.Taken()) != 0 {
		t.Errorf("a plan that is still being written: %v %v", result, err)
	}
	w.Clock.SetTime(epoch.Add(stepsDue))
	if result, err := w.reconcile(t); err != nil || result.RequeueAfter != 0 || !strings.Contains(w.plan(t, "plan").Status.Message, "has not written the steps") {
		t.Errorf("a plan whose steps do not come: %v %v", result, err)
	}
	w.Taken()
	if _, err := w.reconcile(t); err != nil || len(w.Taken()) != 0 {
		t.Errorf("what has been said is said again: %v", err)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), newPlan()))
	if _, err := w.reconcile(t); err != nil {
		t.Errorf("a plan that is gone: %v", err)
	}
}

// TestCopyGivesWay installs an operator where a copy of the same one in another namespace is.
func TestCopyGivesWay(t *testing.T) {
	copied := &v1alpha1.ClusterServiceVersion{}
	must.NoError(t, yaml.Unmarshal([]byte(csvYAML), copied))
	copied.Namespace = "ns"
	copied.Labels = map[string]string{v1alpha1.CopiedFromLabel: "elsewhere"}
	copied.Status.Reason = v1alpha1.CSVReasonCopied
	w := newWorld(t, wholePlan(t), pullSecret(), copied)
	must.Value(w.reconcile(t))(t)
	live := &v1alpha1.ClusterServiceVersion{}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(copied), live); err != nil || live.IsCopied() {
		t.Errorf("%v; labels %v, reason %q", err, live.Labels, live.Status.Reason)
	}
}

// TestARoleOfABundleGathersNoRights: labels by which the roles of OperatorGroups and of the manager gather rights do not come from a bundle. That of
// Kubernetes, by which a bundle brings a role for users, stays.
func TestARoleOfABundleGathersNoRights(t *testing.T) {
	role := &rbacv1.ClusterRole{}
	must.NoError(t, yaml.Unmarshal([]byte(clusterRoleYAML), role))
	role.Labels = map[string]string{"olm.opgroup.permissions/aggregate-to-admin": "group", "operators.fairlead.dev/aggregate-to-manager": "true",
		"rbac.authorization.k8s.io/aggregate-to-view": "true"}
	role.Annotations = map[string]string{v1alpha1.ProvidersAnnotation: "ns/op.v1=forged/"}
	manifest := must.Value(yaml.Marshal(role))(t)
	w := newWorld(t, newPlan(step(t, csvYAML), step(t, string(manifest))))
	if p := w.settle(t, time.Minute); p.Status.Phase != v1alpha1.InstallPlanPhaseComplete {
		t.Fatalf("phase %s: %s", p.Status.Phase, p.Status.Message)
	}
	live := &rbacv1.ClusterRole{}
	if !w.get(t, live, "", role.Name) {
		t.Fatal("the role does not exist")
	}
	want := map[string]string{"olm.managed": "true", "olm.owner": "op.v1", "olm.owner.namespace": "ns", "olm.owner.kind": "ClusterServiceVersion",
		"rbac.authorization.k8s.io/aggregate-to-view": "true"}
	must.Equal(t, "labels", live.Labels, want)
	must.Equal(t, "annotations", live.Annotations[v1alpha1.ProvidersAnnotation], "")
}
