package clusterobjectset

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// running is a world in which revision 1 runs.
func running(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.revise(options(1, configMap(t, "config", "1"), deployment(t, "op", "op:v1")))
	w.settle()
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	w.taken()
	return w
}

// TestDrift: what another client changes of the wanted fields is corrected, with one look at the object that has changed; what they add stays.
func TestDrift(t *testing.T) {
	w := running(t)
	edit := func(change func(u *unstructured.Unstructured)) {
		t.Helper()
		u := w.get("ConfigMap", "config")
		change(u)
		must.NoError(t, w.Inner.Update(t.Context(), u, client.FieldOwner("somebody")))
		w.settle()
		w.expect("ext-1", "Progressing=True/Succeeded")
	}
	edit(func(u *unstructured.Unstructured) {
		u.Object["data"] = map[string]any{"key": "theirs", "more": "theirs"}
	})
	data := w.get("ConfigMap", "config").Object["data"].(map[string]any)
	must.Equal(t, "data", data["key"], "1")
	must.Equal(t, "data", data["more"], "theirs")
	for _, read := range w.reads {
		if read == "Deployment op" {
			t.Errorf("what has not changed was read: %v", w.reads)
		}
	}
	edit(func(u *unstructured.Unstructured) {
		labels := u.GetLabels()
		delete(labels, managedByLabel)
		u.SetLabels(labels)
	})
	if w.get("ConfigMap", "config").GetLabels()[managedByLabel] == "" {
		t.Error("the label does not come back")
	}
	must.NoError(t, w.Inner.Delete(t.Context(), w.get("ConfigMap", "config")))
	w.settle()
	if w.get("ConfigMap", "config") == nil {
		t.Error("the object does not come back")
	}
}

// TestReadiness follows the workload, down and up.
func TestReadiness(t *testing.T) {
	w := running(t)
	w.run("op", false)
	w.settle()
	w.expect("ext-1", "Available=False/ProbeFailure", "Deployment.apps/v1 ns/op: said the test")
	w.expect("ext-1", "Succeeded=True/Succeeded")
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Available=True/ProbesSucceeded")
}

// TestHealingGoesOn although one object is another client's by now.
func TestHealingGoesOn(t *testing.T) {
	w := running(t)
	u := w.get("ConfigMap", "config")
	u.SetOwnerReferences(nil)
	must.NoError(t, w.Inner.Update(t.Context(), u))
	must.NoError(t, w.Inner.Delete(t.Context(), w.get("Deployment", "op")))
	w.settle()
	w.expect("ext-1", "Progressing=True/Retrying: revision object collisions in phase configuration")
	w.expect("ext-1", "Available=Unknown/Reconciling")
	if w.get("Deployment", "op") == nil {
		t.Error("a collision keeps another object from being healed")
	}
}

// TestHealingBehindWhatLacksSomething: an object of an earlier phase that does not satisfy its probe any more, here a CRD, keeps nothing of a
// later phase from coming back.
func TestHealingBehindWhatLacksSomething(t *testing.T) {
	w := newWorld(t)
	w.revise(options(1, thing(t), deployment(t, "op", "op:v1")))
	w.establish()
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	crd := w.definition()
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse}}
	must.NoError(t, w.Inner.Status().Update(t.Context(), crd))
	w.update(crd)
	must.NoError(t, w.Inner.Delete(t.Context(), w.get("Deployment", "op")))
	w.settle()
	if w.get("Deployment", "op") == nil {
		t.Error("the deleted Deployment does not come back while a CRD is not established")
	}
	w.expect("ext-1", "Available=False/ProbeFailure", things+": condition NamesAccepted is not set yet", "Deployment.apps/v1 ns/op")
}

// TestHealingBehindWhatIsBeingDeleted: an object that waits for a finalizer of another client keeps nothing of a later phase from coming back.
func TestHealingBehindWhatIsBeingDeleted(t *testing.T) {
	w := running(t)
	u := w.get("ConfigMap", "config")
	u.SetFinalizers([]string{"example.com/stuck"})
	w.update(u)
	for _, u := range []*unstructured.Unstructured{u, w.get("Deployment", "op")} {
		must.NoError(t, w.Inner.Delete(t.Context(), u))
	}
	w.settle()
	if w.get("Deployment", "op") == nil {
		t.Error("the deleted Deployment does not come back while a ConfigMap waits for a finalizer")
	}
	w.expect("ext-1", "Available=False/ProbeFailure", "ns/config: ConfigMap ns/config is being deleted", "Deployment.apps/v1 ns/op")
}

// TestDeadline is told when it passes, and taken back when the revision is complete after all.
func TestDeadline(t *testing.T) {
	w := newWorld(t)
	o := options(1, deployment(t, "op", "op:v1"))
	o.ProgressDeadlineMinutes = 10
	w.revise(o)
	w.settle()
	w.Clock.SetTime(epoch.Add(10*time.Minute - 5*time.Second))
	if result, err := w.pass("ext-1"); err != nil || result.RequeueAfter != 5*time.Second {
		t.Errorf("the deadline is not waited for: %v %v", result, err)
	}
	w.expect("ext-1", "Progressing=True/RollingOut")
	w.Clock.SetTime(epoch.Add(10 * time.Minute))
	w.settle()
	w.expect("ext-1", "Progressing=False/ProgressDeadlineExceeded: Revision has not rolled out for 10 minute(s). Last status: Revision 1.0.0 is rolling out. ", "no pod is available yet")
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
}
