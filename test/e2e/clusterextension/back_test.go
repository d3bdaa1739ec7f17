package clusterextension

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// poke has the newest revision reconciled: real time has not passed, so nothing else leads to that.
func (w *world) poke(name string) {
	w.Helper()
	all := w.revisions(name)
	var newest *olmv1.ClusterObjectSet
	for n := range all {
		if set := all[n]; newest == nil || set.Spec.Revision > newest.Spec.Revision {
			newest = &set
		}
	}
	before := newest.DeepCopy()
	metav1.SetMetaDataAnnotation(&newest.ObjectMeta, "example.com/look", time.Now().String())
	must.NoError(w, w.Patch(w.Context(), newest, client.MergeFrom(before)))
}

// TestAStuckUpgradeGoesBack: an upgrade that widens a schema and gets stuck counts as failed after the deadline that goes with going back. While
// a stored object uses the new field, going back is refused, in the words of fairlead rollback; without one it is done, the schema included.
func TestAStuckUpgradeGoesBack(t *testing.T) {
	w := newWorldAlone(t)
	definition := crd("thing", w.name, "a thing")
	wide := strings.Replace(definition, `"size":{`, `"color":{"type":"string"},"size":{`, 1)
	first := operator{pkg: w.name, version: "1.0.0", files: map[string]string{"crd": definition}}
	second := operator{pkg: w.name, version: "1.1.0", replaces: "1.0.0", files: map[string]string{"crd": wide}}
	w.publish(first, second)
	w.extend(w.name, w.name, version("1.0.0"), annotated(revision.OnFailureKey, revision.OnFailureRollback))
	w.installed(w.name, first.name())
	w.change(w.name, func(e *olmv1.ClusterExtension) {
		version("1.1.0")(e)
		inline(`{"deploymentConfig":{"nodeSelector":{"no":"node"}}}`)(e)
	})
	w.says(w.name, "Available", "False", "ProbeFailure", "Deployment")
	if set := w.revisions(w.name)[2]; set.Spec.ProgressDeadlineMinutes != revision.RollbackDeadlineMinutes {
		t.Errorf("the progress deadline is %d minutes", set.Spec.ProgressDeadlineMinutes)
	}
	thing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": w.name + ".example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"name": "red", "namespace": w.name}, "spec": map[string]any{"color": "red", "size": int64(1)}}}
	must.NoError(w, w.Create(t.Context(), thing))

	w.jump((revision.RollbackDeadlineMinutes + 1) * time.Minute)
	w.poke(w.name)
	const loses = "1 of 1 custom resources would lose fields: "
	w.says(w.name, "Progressing", "True", "Retrying", loses)
	told := must.Value(ops.ReadHistory(t.Context(), w, w.name))(w)
	back := must.Value(told.Judge(t.Context(), w, 1))(w)
	if len(back.Blocked) != 1 || !strings.Contains(progressMessage(w.extension(w.name)), back.Blocked[0]) {
		t.Errorf("fairlead rollback says %q, the controller %q", back.Blocked, progressMessage(w.extension(w.name)))
	}

	must.NoError(w, w.Delete(t.Context(), thing))
	w.jump(2 * time.Minute)
	w.poke(w.name)
	w.says(w.name, "Progressing", "False", "Blocked", "rolled back to what was installed before")
	if got := w.extension(w.name).Status.Install; got == nil || got.Bundle.Name != first.name() || w.revisions(w.name)[3].Spec.LifecycleState != olmv1.LifecycleStateActive {
		t.Errorf("installed is %+v", got)
	}
	live := &apiextensionsv1.CustomResourceDefinition{}
	w.until("the narrow schema is back", func() (bool, string) {
		must.NoError(w, w.Get(t.Context(), client.ObjectKey{Name: "things." + w.name + ".example.com"}, live))
		_, wide := live.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["color"]
		return !wide, "the wide one"
	})
}

func progressMessage(e *olmv1.ClusterExtension) string {
	for _, c := range e.Status.Conditions {
		if c.Type == olmv1.TypeProgressing {
			return c.Message
		}
	}
	return ""
}

// TestScaledToZero: nothing runs of an operator whose Deployment another client has scaled to zero, where its author asks for no number.
func TestScaledToZero(t *testing.T) {
	w := newWorld(t)
	o := operator{pkg: w.name, version: "1.0.0", unscaled: true}
	w.publish(o)
	w.extend(w.name, w.name)
	w.installed(w.name, o.name())
	scale := func(to int32) {
		d := w.deployment(w.name)
		w.there(d)
		must.NoError(w, w.Patch(t.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Name}},
			client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":`+fmt.Sprint(to)+`}}`))))
	}
	scale(0)
	w.says(w.name, "Available", "False", "ProbeFailure", "Deployment "+w.name+" is scaled to 0 replicas; scale it up again")
	scale(1)
	w.says(w.name, "Available", "True", "ProbesSucceeded", "")
}
