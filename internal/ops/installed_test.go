package ops_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"
)

// objects are an operator of each API, copies and what was, in a cluster.
func objects() []client.Object {
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "app.v1", Annotations: map[string]string{"olm.properties": "[]"}}}
	csv.Spec.MinKubeVersion = "1.20.0"
	csv.Spec.NativeAPIs = []metav1.GroupVersionKind{{Version: "v1", Kind: "Pod"}}
	copied := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "app.v1"}}
	copied.Status.Reason = v1alpha1.CSVReasonCopied
	other := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "other.v1"}}
	plan := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "install-1"}}
	plan.Status.Plan = []*v1alpha1.Step{
		{Resolving: "app.v1", Resource: v1alpha1.StepResource{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget", Name: "manager"}},
		{Resolving: "gone.v1", Resource: v1alpha1.StepResource{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget", Name: "gone"}},
	}
	subscription := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "app"}, Status: v1alpha1.SubscriptionStatus{InstalledCSV: "app.v1",
		Conditions: []v1alpha1.SubscriptionCondition{{Type: v1alpha1.SubscriptionSupported, Status: corev1.ConditionTrue, Message: "Full, supported until 2027-06-30"}}}}
	extension := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "tool"}, Spec: olmv1.ClusterExtensionSpec{Namespace: "tools"}}
	extension.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: "tool.v2"}}
	extension.Status.Conditions = []metav1.Condition{{Type: olmv1.TypeSupported, Status: metav1.ConditionFalse, Message: "support ended on 2026-12-31"}}
	inline := unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": map[string]any{"name": "nightly", "namespace": "tools"}}}
	set := &olmv1.ClusterObjectSet{
		ObjectMeta: metav1.ObjectMeta{Name: "tool-2", Labels: map[string]string{olmv1.OwnerNameKey: "tool"}, Annotations: map[string]string{olmv1.BundleNameKey: "tool.v2"}},
		Spec: olmv1.ClusterObjectSetSpec{LifecycleState: olmv1.LifecycleStateActive, Phases: []olmv1.ClusterObjectSetPhase{{Name: "deploy",
			Objects: []olmv1.ClusterObjectSetObject{{Object: &inline}, {Ref: &olmv1.ObjectSourceRef{Namespace: "olm", Name: "lost", Key: "x"}}}}}},
	}
	archived := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "tool-1"}, Spec: olmv1.ClusterObjectSetSpec{LifecycleState: olmv1.LifecycleStateArchived}}
	return []client.Object{csv, copied, other, plan, subscription, extension, set, archived}
}

func cluster(t *testing.T, without string) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{olmv1.AddToScheme, v1alpha1.AddToScheme, corev1.AddToScheme} {
		must.NoError(t, add(scheme))
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects()...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			kinds, _, err := scheme.ObjectKinds(list)
			if err != nil {
				return err
			}
			if without == "everything" || without == kinds[0].Group {
				return &meta.NoKindMatchError{GroupKind: kinds[0].GroupKind()}
			}
			if without == "discovery of "+kinds[0].Group {
				return &apiutil.ErrResourceDiscoveryFailed{kinds[0].GroupVersion(): apierrors.NewServiceUnavailable("no endpoints")}
			}
			if without == kinds[0].Kind {
				return errors.New("connection refused")
			}
			return c.List(ctx, list, options...)
		},
	}).Build()
}

// text is what is known of operators, line by line.
func text(t *testing.T, c client.Client, namespace string) string {
	t.Helper()
	operators, _, err := ops.Read(t.Context(), c, namespace)
	must.NoError(t, err)
	var lines []string
	for _, o := range operators {
		lines = append(lines, strings.TrimSpace(o.Name+" "+o.Properties+" "+o.MinKubeVersion))
		if o.Support != "" {
			lines = append(lines, "  "+o.Support)
		}
		for _, use := range o.Uses {
			lines = append(lines, "  "+use.APIVersion+" "+use.Kind+" of "+use.Where)
		}
		for _, what := range o.Unreadable {
			lines = append(lines, "  "+strings.SplitAfter(what, "cannot be read")[0])
		}
	}
	return strings.Join(lines, "\n")
}

func TestRead(t *testing.T) {
	const app = "ClusterServiceVersion app.v1 in namespace a [] 1.20.0\n  Full, supported until 2027-06-30\n  v1 Pod of spec.nativeAPIs\n  policy/v1beta1 PodDisruptionBudget of PodDisruptionBudget manager"
	const other = "ClusterServiceVersion other.v1 in namespace b\n  no data"
	const tool = "ClusterExtension tool with bundle tool.v2\n  support ended on 2026-12-31\n  the objects of ClusterObjectSet tool-2 cannot be read"
	for name, test := range map[string]struct{ without, namespace, want string }{
		"everything":        {"", "", app + "\n" + other + "\n" + tool},
		"one namespace":     {"", "a", app},
		"of an extension":   {"", "tools", tool},
		"without v0":        {"operators.coreos.com", "", tool},
		"without v1":        {"olm.operatorframework.io", "", app + "\n" + other},
		"another namespace": {"", "c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "text", text(t, cluster(t, test.without), test.namespace), test.want)
		})
	}
	for _, without := range []string{"everything", "discovery of operators.coreos.com", "discovery of olm.operatorframework.io", "ClusterServiceVersionList", "InstallPlanList", "SubscriptionList", "ClusterExtensionList", "ClusterObjectSetList"} {
		if _, _, err := ops.Read(t.Context(), cluster(t, without), ""); err == nil {
			t.Errorf("without %s nothing is wrong", without)
		}
	}
}

func TestReadKnowsObjectsOfRevisions(t *testing.T) {
	c := cluster(t, "")
	set := &olmv1.ClusterObjectSet{}
	must.NoError(t, c.Get(t.Context(), client.ObjectKey{Name: "tool-2"}, set))
	set.Spec.Phases[0].Objects = set.Spec.Phases[0].Objects[:1]
	must.NoError(t, c.Update(t.Context(), set))
	const want = "ClusterExtension tool with bundle tool.v2\n  support ended on 2026-12-31\n  batch/v1beta1 CronJob of CronJob nightly"
	must.Equal(t, "text", text(t, c, "tools"), want)
}

func FuzzDecode(f *testing.F) {
	f.Add("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod}\n")
	f.Add("apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nspec: {nativeAPIs: [{kind: x}]}\n")
	f.Fuzz(func(t *testing.T, manifests string) {
		operators, err := ops.Decode("x", strings.NewReader(manifests))
		if err != nil && len(operators) > 0 {
			t.Errorf("%d operators and %v", len(operators), err)
		}
	})
}
