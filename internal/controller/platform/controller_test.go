package platform

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

func properties(last string) map[string]string {
	return map[string]string{olmv1.PropertiesKey: `[{"type":"olm.maxOpenShiftVersion","value":"` + last + `"}]`}
}

func csv(name, last string) *v1alpha1.ClusterServiceVersion {
	return &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: "operators", Name: name, Annotations: properties(last)}}
}

func set(name, last string, state olmv1.LifecycleState) *olmv1.ClusterObjectSet {
	annotations := properties(last)
	annotations[olmv1.BundleNameKey] = name + ".v1"
	return &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Annotations: annotations, Labels: map[string]string{olmv1.OwnerNameKey: name}},
		Spec: olmv1.ClusterObjectSetSpec{LifecycleState: state}}
}

func version(desired string) *unstructured.Unstructured {
	object := empty(versionKind, versionName)
	_ = unstructured.SetNestedField(object.Object, desired, "status", "desired", "version")
	return object
}

type world struct {
	client.Client // of others
	*fakeapi.Server
	*Controller
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	server := fakeapi.New(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), fake.NewClientBuilder().WithScheme(fakeapi.Scheme(olmv1.AddToScheme, v1alpha1.AddToScheme)).
		WithStatusSubresource(empty(operatorKind, "")).WithObjects(objects...))
	w := &world{Client: server.Inner, Server: server}
	w.Controller = &Controller{client: server, cluster: server, clock: server.Clock, watch: func(schema.GroupVersionKind, string) error { return nil }}
	w.versions.Store(true)
	w.operators.Store(true)
	return w
}

// look reconciles, and returns the condition.
func (w *world) look(t *testing.T) map[string]any {
	t.Helper()
	must.Value(w.Reconcile(t.Context(), reconcile.Request{}))(t)
	operator := empty(operatorKind, operatorName)
	if err := w.Get(t.Context(), client.ObjectKey{Name: operatorName}, operator); err != nil {
		return nil
	}
	conditions, _, _ := unstructured.NestedSlice(operator.Object, "status", "conditions")
	for _, condition := range conditions {
		if condition := condition.(map[string]any); condition["type"] == upgradeable {
			return condition
		}
	}
	return nil
}

func TestTheConditionFollowsWhatIsInstalled(t *testing.T) {
	copied := csv("app.v2", "4.1")
	copied.Namespace, copied.Status.Reason = "elsewhere", v1alpha1.CSVReasonCopied
	w := newWorld(t, version("4.18.3"), csv("app.v1", "4.18"), copied, set("tool", "4.17", olmv1.LifecycleStateActive), set("old", "4.1", olmv1.LifecycleStateArchived))
	condition := w.look(t)
	const want = "ClusterExtension tool with bundle tool.v1 works on OpenShift up to 4.17; ClusterServiceVersion app.v1 in namespace operators works on OpenShift up to 4.18"
	if condition["status"] != "False" || condition["reason"] != "IncompatibleOperatorsInstalled" || !strings.HasSuffix(condition["message"].(string), want) {
		t.Fatalf("the condition is %v", condition)
	}
	since := condition["lastTransitionTime"]
	w.Taken()
	w.Clock.Step(time.Hour)
	w.look(t)
	must.Empty(t, "writes although nothing has changed", w.Taken())
	must.NoError(t, w.Delete(t.Context(), set("tool", "", "")))
	condition = w.look(t)
	if condition["status"] != "False" || strings.Contains(condition["message"].(string), "tool") || condition["lastTransitionTime"] != since {
		t.Errorf("with one operator less the condition is %v", condition)
	}
	upgraded := csv("app.v1", "4.19")
	must.NoError(t, w.Get(t.Context(), client.ObjectKeyFromObject(upgraded), upgraded))
	upgraded.Annotations = properties("4.19")
	must.NoError(t, w.Update(t.Context(), upgraded))
	condition = w.look(t)
	if condition["status"] != "True" || condition["reason"] != "OperatorsCompatible" || condition["lastTransitionTime"] == since {
		t.Errorf("after the upgrade the condition is %v", condition)
	}
}

func TestOtherConditionsStay(t *testing.T) {
	operator := empty(operatorKind, operatorName)
	available := map[string]any{"type": "Available", "status": "True", "reason": "AsExpected", "lastTransitionTime": "2025-01-01T00:00:00Z"}
	must.NoError(t, unstructured.SetNestedSlice(operator.Object, []any{available}, "status", "conditions"))
	must.NoError(t, unstructured.SetNestedField(operator.Object, "x", "status", "extension"))
	w := newWorld(t, version("4.18.3"), operator)
	must.Equal(t, "the condition", w.look(t)["status"], "True")
	must.NoError(t, w.Get(t.Context(), client.ObjectKey{Name: operatorName}, operator))
	conditions, _, _ := unstructured.NestedSlice(operator.Object, "status", "conditions")
	extension, _, _ := unstructured.NestedString(operator.Object, "status", "extension")
	if len(conditions) != 2 || conditions[0].(map[string]any)["reason"] != "AsExpected" || extension != "x" {
		t.Errorf("the status is %v", operator.Object["status"])
	}
}

// TestAWriteIsLoggedOnce: the transition of the condition is one line, and none where the kind was removed before it was written.
func TestAWriteIsLoggedOnce(t *testing.T) {
	w := newWorld(t, version("4.18.3"), csv("app.v1", "4.18"))
	var lines []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	removed := true
	w.Before = func(write string) error {
		if removed && strings.HasPrefix(write, "patch status ") {
			return &meta.NoKindMatchError{GroupKind: operatorKind.GroupKind()}
		}
		return nil
	}
	must.Value(w.Reconcile(ctx, reconcile.Request{}))(t)
	must.Empty(t, "lines about a kind that is gone", lines)
	removed = false
	for range 2 {
		must.Value(w.Reconcile(ctx, reconcile.Request{}))(t)
	}
	if len(lines) != 1 || !strings.Contains(lines[0], `"msg"="status changed"`) || !strings.Contains(lines[0], `"status"=false "reason"="IncompatibleOperatorsInstalled"`) {
		t.Errorf("the lines are %q", lines)
	}
}

func TestNothingIsDoneWithoutThePlatform(t *testing.T) {
	w := newWorld(t, csv("app.v1", "4.18"))
	if condition := w.look(t); condition != nil || w.Made() > 0 {
		t.Errorf("without a ClusterVersion the condition is %v, after %d writes", condition, w.Made())
	}
	w = newWorld(t, version("4.18.3"), csv("app.v1", "4.18"))
	w.operators.Store(false)
	if condition := w.look(t); condition != nil || w.Made() > 0 {
		t.Errorf("without the kind ClusterOperator the condition is %v, after %d writes", condition, w.Made())
	}
}

// TestAWatchThatFailsIsTriedAgain until each kind is watched, once.
func TestAWatchThatFailsIsTriedAgain(t *testing.T) {
	w := newWorld(t, version("4.18.3"), csv("app.v1", "4.19"))
	var watched []string
	failing := operatorKind.Kind
	w.watch = func(kind schema.GroupVersionKind, name string) error {
		if kind.Kind == failing {
			return errors.New("too early")
		}
		watched = append(watched, kind.Kind+" "+name)
		return nil
	}
	for range 2 {
		if _, err := w.Reconcile(t.Context(), reconcile.Request{}); err == nil || !strings.Contains(err.Error(), "watch ClusterOperator olm, to say whether the cluster may be upgraded: too early") {
			t.Errorf("a watch that fails is %v", err)
		}
	}
	failing = ""
	for range 2 {
		must.Equal(t, "the condition", w.look(t)["status"], "True")
	}
	must.Equal(t, "watched", watched, []string{"ClusterVersion version", "ClusterOperator olm"})
}
