package platform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// The manager sees all namespaces, so the cluster is not shared.
func TestMain(m *testing.M) { devcluster.MainAlone(m) }

// world is a cluster with a manager.
type world struct {
	*testing.T
	client.Client
}

func config(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: kind})
	object.SetName(name)
	return object
}

func properties(last string) map[string]string {
	return map[string]string{olmv1.PropertiesKey: `[{"type":"olm.maxOpenShiftVersion","value":"` + last + `"}]`}
}

// limit patches the highest release of the platform that an object says it works on.
func limit(last string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"olm.properties":"[{\"type\":\"olm.maxOpenShiftVersion\",\"value\":\"`+last+`\"}]"}}}`))
}

// TestInstalledOperatorsHoldUpgradesUp: the manager, with its shipped rights, runs before the kinds of the platform are there, names the operators
// of both APIs, and takes it back when they are upgraded or gone. 4.23 and 5.0 are one release, before 5.1.
func TestInstalledOperatorsHoldUpgradesUp(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	w := &world{t, harness.Client(t, devcluster.Config())}
	harness.Apply(t.Context(), t, w, harness.Kustomized(t, "../../../config"))
	harness.RunAsShipped(t, manager.Options{Config: harness.AsManager(t, devcluster.Config()), Log: harness.Log(t), LeaderElection: true, LeaderNamespace: "olm"})
	namespace := devcluster.Namespace(t)
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "app.v1.0.0", Annotations: properties("4.18")}}
	csv.Spec.InstallStrategy.StrategyName = "deployment"
	w.make(csv)
	set := &olmv1.ClusterObjectSet{ObjectMeta: metav1.ObjectMeta{Name: "tool-1", Annotations: properties("4.17"), Labels: map[string]string{olmv1.OwnerNameKey: "tool"}},
		Spec: olmv1.ClusterObjectSetSpec{LifecycleState: olmv1.LifecycleStateActive, Revision: 1, CollisionProtection: olmv1.CollisionProtectionPrevent}}
	set.Annotations[olmv1.BundleNameKey] = "tool.v1.0.0"
	w.make(set)

	w.definitions()
	version := config("ClusterVersion", "version")
	version.Object["spec"] = map[string]any{}
	w.make(version)
	w.desire(version, "4.18.0-rc.1")
	w.expect("False", "IncompatibleOperatorsInstalled", "OpenShift 4.19", "ClusterServiceVersion app.v1.0.0 in namespace "+namespace, "ClusterExtension tool with bundle tool.v1.0.0 works on OpenShift up to 4.17")

	must.NoError(w, w.Delete(t.Context(), set))
	w.expect("False", "IncompatibleOperatorsInstalled", "first: ClusterServiceVersion app.v1.0.0")
	must.NoError(w, w.Patch(t.Context(), csv, limit("4.19")))
	w.expect("True", "OperatorsCompatible", "4.19")
	w.desire(version, "4.18.7")
	w.expect("True", "OperatorsCompatible", "4.19")
	w.desire(version, "4.19.0")
	w.expect("False", "IncompatibleOperatorsInstalled", "OpenShift 4.20", "up to 4.19")
	for _, row := range []struct {
		desired, limit, status, reason string
		parts                          []string
	}{
		{"4.22.1", "4.22", "False", "IncompatibleOperatorsInstalled", []string{"OpenShift 5.0 (which is 4.23)", "up to 4.22"}},
		{"4.22.1", "5.0", "True", "OperatorsCompatible", []string{"OpenShift 5.0 (which is 4.23)"}},
		{"4.23.0-rc.2", "5.0", "False", "IncompatibleOperatorsInstalled", []string{"OpenShift 5.1", "app.v1.0.0", "up to 5.0 (which is 4.23)"}},
		{"4.23.0", "5.0", "False", "IncompatibleOperatorsInstalled", []string{"OpenShift 5.1", "up to 5.0 (which is 4.23)"}},
		{"5.0.3", "4.23", "False", "IncompatibleOperatorsInstalled", []string{"OpenShift 5.1", "up to 4.23 (which is 5.0)"}},
		{"4.23.0", "5.1", "True", "OperatorsCompatible", []string{"no installed operator excludes OpenShift 5.1"}},
		{"5.1.0", "5.1", "False", "IncompatibleOperatorsInstalled", []string{"OpenShift 5.2", "up to 5.1"}},
	} {
		must.NoError(w, w.Patch(t.Context(), csv, limit(row.limit)))
		w.desire(version, row.desired)
		w.expect(row.status, row.reason, row.parts...)
	}
	must.NoError(w, w.Delete(t.Context(), csv))
	w.expect("True", "OperatorsCompatible", "5.2")
}

// make creates an object that goes when the test is over.
func (w *world) make(object client.Object) {
	w.Helper()
	must.Eventually(w, fmt.Sprintf("%T %s to be accepted", object, object.GetName()), func() error {
		err := w.Create(w.Context(), object)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return err // its definition has only just been written
		}
		must.NoError(w, err)
		return nil
	})
	w.Cleanup(func() {
		if err := w.Delete(context.Background(), object); client.IgnoreNotFound(err) != nil {
			w.Error(err)
		}
	})
}

// definitions makes the kinds of the platform. They stay: the cluster goes with the test.
func (w *world) definitions() {
	w.Helper()
	data := must.Value(os.ReadFile("testdata/config-api.yaml"))(w)
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		must.NoError(w, err)
		if err := w.Create(w.Context(), object); !apierrors.IsAlreadyExists(err) { // the tests share the cluster
			must.NoError(w, err)
		}
	}
}

// desire sets the version that the cluster is brought to.
func (w *world) desire(version *unstructured.Unstructured, desired string) {
	w.Helper()
	must.NoError(w, w.Status().Patch(w.Context(), version, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"desired":{"version":"`+desired+`"}}}`))))
}

// expect waits for the condition.
func (w *world) expect(status, reason string, parts ...string) {
	w.Helper()
	must.Eventually(w, "Upgradeable to be "+status+" with "+strings.Join(parts, ", "), func() error {
		operator := config("ClusterOperator", "olm")
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(operator), operator); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(operator.Object, "status", "conditions")
		if err != nil || len(conditions) != 1 {
			return fmt.Errorf("the conditions are %v, %w", conditions, err)
		}
		got := conditions[0].(map[string]any)
		for _, part := range parts {
			if got["type"] != "Upgradeable" || got["status"] != status || got["reason"] != reason || !strings.Contains(fmt.Sprint(got["message"]), part) {
				return fmt.Errorf("it is %v", got)
			}
		}
		return nil
	})
}
