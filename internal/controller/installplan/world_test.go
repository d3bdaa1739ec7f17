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
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"
)

// world is a fake API server with a controller on it. What its other clients do goes through Inner where it is not to be noted.
type world struct {
	*fakeapi.Server
	controller *Controller
	store      store
	// establish is what becomes of a new CRD.
	establish bool
}

// reported is the write of the status.
const reported = "patch status InstallPlan plan"

func newWorld(t testing.TB, objects ...client.Object) *world {
	t.Helper()
	catalog := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "c"}, Spec: v1alpha1.CatalogSourceSpec{Secrets: []string{pullSecret().Name}}}
	if slices.ContainsFunc(objects, func(o client.Object) bool { _, is := o.(*corev1.Secret); return is && o.GetName() == pullSecret().Name }) {
		objects = append(slices.Clone(objects), catalog)
	}
	group := &operatorsv1.OperatorGroup{}
	group.Namespace, group.Name, group.Status.Namespaces = "ns", "group", []string{""}
	scheme := fakeapi.Scheme(clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme, operatorsv1.AddToScheme)
	w := &world{establish: true, store: store{}, Server: fakeapi.New(epoch, fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().
		WithStatusSubresource(&v1alpha1.InstallPlan{}, &apiextensionsv1.CustomResourceDefinition{}).WithObjects(group).WithObjects(objects...))}
	w.OneAtATime = true
	w.Beneath(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error { // an API server establishes CRDs
		err := c.Create(ctx, o, opts...)
		if err == nil && w.establish && o.GetObjectKind().GroupVersionKind().Kind == crdKind {
			return setEstablished(ctx, c, o.GetName())
		}
		return err
	}})
	w.controller = &Controller{
		Options: Options{Manifests: w.store, OperatorNamespace: "olm", RetryTimeout: DefaultRetryTimeout, Clock: w.Clock, Catalogs: catalogstore.NewSet(), Metrics: metrics.NewInstallPlans(),
			Unpacker: bundleio.NewUnpacker(nil, realClock{w.Clock}, func() {})},
		client: w.WithWatch, live: w.WithWatch, events: w.Events,
		engine: &rollout.Engine{Client: w.WithWatch, FieldManager: fieldOwner},
	}
	return w
}

func (w *world) watcher() watcher { return watcher{w.controller} }

func setEstablished(ctx context.Context, c client.Client, name string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return err
	}
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			crd.Status.StoredVersions = []string{v.Name}
		}
	}
	return c.Status().Update(ctx, crd)
}

func (w *world) plan(t testing.TB, name string) *v1alpha1.InstallPlan {
	t.Helper()
	p := &v1alpha1.InstallPlan{}
	must.NoError(t, w.Inner.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, p))
	return p
}

// hasPhase stops the test when a plan has another phase.
func hasPhase(t testing.TB, p *v1alpha1.InstallPlan, phase v1alpha1.InstallPlanPhase) {
	t.Helper()
	if p.Status.Phase != phase {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
}

// reconcile looks at the plan "plan" once.
func (w *world) reconcile(t testing.TB) (ctrl.Result, error) {
	t.Helper()
	return w.controller.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "plan"}})
}

// settle looks at the plan until there is nothing more to do, or the time is over, and returns what became of it.
func (w *world) settle(t testing.TB, limit time.Duration) *v1alpha1.InstallPlan {
	t.Helper()
	for end := w.Clock.Now().Add(limit); ; {
		before := w.plan(t, "plan").ResourceVersion
		result, err := w.reconcile(t)
		switch {
		case err == nil && before != w.plan(t, "plan").ResourceVersion:
			continue // that is an event, which brings the plan back
		case err != nil:
			result.RequeueAfter = 100 * time.Millisecond
		case result.RequeueAfter == 0:
			return w.plan(t, "plan")
		}
		if w.Clock.SetTime(w.Clock.Now().Add(result.RequeueAfter)); w.Clock.Now().After(end) {
			return w.plan(t, "plan")
		}
	}
}

func (w *world) get(t testing.TB, o client.Object, namespace, name string) bool {
	t.Helper()
	err := w.Inner.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

// store holds manifests by the text that refers to them. Any other text is a manifest itself.
type store map[string]string

func (s store) Resolve(_ context.Context, text string) ([]byte, error) {
	if !strings.HasPrefix(text, "ref:") {
		return []byte(text), nil
	}
	if manifest, ok := s[text]; ok {
		return []byte(manifest), nil
	}
	return nil, fmt.Errorf("%w: %s", bundleio.ErrMissing, text)
}

// Refer keeps everything in the plan.
func (s store) Refer(_ context.Context, manifest []byte) (string, error) {
	return string(manifest), nil
}

// Store keeps everything in the plan.
func (s store) Store(ctx context.Context, manifest []byte) (string, error) {
	return s.Refer(ctx, manifest)
}

// Store makes unreadable what the controller works with.
func (unreadable) Store(context.Context, []byte) (string, error) { return "", errors.New("unreadable") }

// Refer makes unreadable what the controller works with.
func (unreadable) Refer(context.Context, []byte) (string, error) { return "", errors.New("unreadable") }

// realClock has the time of day of the test, and real waits.
type realClock struct{ *clocktesting.FakeClock }

func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
func (realClock) NewTimer(d time.Duration) clock.Timer   { return clock.RealClock{}.NewTimer(d) }
func (realClock) NewTicker(d time.Duration) clock.Ticker { return clock.RealClock{}.NewTicker(d) }
func (realClock) Tick(d time.Duration) <-chan time.Time  { return time.Tick(d) }
func (realClock) Sleep(d time.Duration)                  { time.Sleep(d) }

// step makes a step for op.v1 from a manifest in YAML; a Secret becomes a step of kind BundleSecret.
func step(t testing.TB, manifest string) *v1alpha1.Step {
	t.Helper()
	text := must.Value(yaml.YAMLToJSON([]byte(manifest)))(t)
	u := &unstructured.Unstructured{}
	must.NoError(t, yaml.Unmarshal(text, &u.Object))
	gvk := u.GroupVersionKind()
	kind := gvk.Kind
	if kind == secretKind {
		kind = "BundleSecret"
	}
	return &v1alpha1.Step{Resolving: "op.v1", Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{
		Group: gvk.Group, Version: gvk.Version, Kind: kind, Name: u.GetName(), Manifest: string(text),
	}}
}

func newPlan(steps ...*v1alpha1.Step) *v1alpha1.InstallPlan {
	p := &v1alpha1.InstallPlan{}
	p.Namespace, p.Name, p.UID, p.CreationTimestamp = "ns", "plan", "uid-plan", *at(0)
	p.Spec = v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"op.v1"}, Approval: v1alpha1.ApprovalAutomatic, Approved: true}
	p.Status = v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseInstalling, CatalogSources: []string{"c"}, Plan: steps}
	return p
}

const (
	csvYAML = `
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: op.v1, namespace: ns}
spec:
  displayName: Op
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
  customresourcedefinitions: {owned: [{name: widgets.example.com, version: v1, kind: Widget}]}`
	crdYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`
	serviceYAML     = `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: op}, ports: [{port: 80}]}}`
	secretYAML      = `{apiVersion: v1, kind: Secret, metadata: {name: keys}, data: {a: YQ==}}`
	accountYAML     = `{apiVersion: v1, kind: ServiceAccount, metadata: {name: op}}`
	roleYAML        = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: op.v1-op-1}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`
	clusterRoleYAML = `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: op.v1-1}, rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]}`
	priorityYAML    = `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 5}`
	budgetYAML      = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: op}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: op}}}}`
	subYAML         = `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: dep, namespace: ns}
spec: {name: dep, source: c, sourceNamespace: olm}`
	ruleYAML = `{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, metadata: {name: alerts}, spec: {groups: []}}`
)

// wholePlan has a step of every sort.
func wholePlan(t testing.TB) *v1alpha1.InstallPlan {
	t.Helper()
	pull := &v1alpha1.Step{Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{Version: "v1", Kind: secretKind, Name: "pull"}}
	steps := []*v1alpha1.Step{pull}
	for _, manifest := range []string{csvYAML, crdYAML, serviceYAML, secretYAML, accountYAML, roleYAML, clusterRoleYAML, priorityYAML, budgetYAML, subYAML} {
		steps = append(steps, step(t, manifest))
	}
	return newPlan(steps...)
}

func pullSecret() *corev1.Secret {
	s := &corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte("{}")}}
	s.Namespace, s.Name = "olm", "pull"
	return s
}
