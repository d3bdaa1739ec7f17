package clusterobjectset

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// header is a set of the test; phases follow.
const header = `
apiVersion: olm.operatorframework.io/v1
kind: ClusterObjectSet
metadata: {name: NS-1}
spec:
  lifecycleState: Active
  revision: 1
  collisionProtection: Prevent
`

const deployment = `
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: web, namespace: NS}
        spec:
          replicas: 1
          selector: {matchLabels: {app: web}}
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: web, image: example.com/web}]}
`

// TestRollout: phases one after the other, and what is told of them.
func TestRollout(t *testing.T) {
	w := newWorld(t)
	w.apply(header + `
  phases:
  - name: configuration
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: NS}, data: {key: value}}
  - name: deploy
    objects:
    - object:` + deployment + `
  - name: publish
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: last, namespace: NS}, data: {key: value}}
`)
	w.reports("NS-1", "Progressing=True/Succeeded", "Revision 1 has rolled out.")
	w.reports("NS-1", "Available=True/ProbesSucceeded", "")
	w.reports("NS-1", "Succeeded=True/Succeeded", "")
	w.there(true, "v1", "ConfigMap", "last")
}

// TestClaims halt the phases after them until they are bound.
func TestClaims(t *testing.T) {
	w := newWorld(t)
	w.apply(header + `
  phases:
  - name: storage
    objects:
    - object:
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: claim, namespace: NS}
        spec: {accessModes: [ReadWriteOnce], storageClassName: NS, resources: {requests: {storage: 1Mi}}}
  - name: configuration
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: NS}, data: {key: value}}
`)
	w.reports("NS-1", "Available=False/ProbeFailure", `Object PersistentVolumeClaim.v1 NS/claim: value at key "status.phase" != "Bound"; expected: "Bound" got: "Pending"`)
	w.reports("NS-1", "Progressing=True/RollingOut", "Revision 1 is rolling out.")
	if w.get("v1", "ConfigMap", "config") != nil {
		t.Error("the next phase was begun")
	}
	w.apply(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: NS}
spec: {accessModes: [ReadWriteOnce], storageClassName: NS, capacity: {storage: 1Mi}, hostPath: {path: /none}}
`)
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	w.there(true, "v1", "ConfigMap", "config")
}

// TestUserProbes hold up what follows until every kind of assertion holds.
func TestUserProbes(t *testing.T) {
	w := newWorld(t)
	w.apply(header + `
  progressionProbes:
  - selector: {type: GroupKind, groupKind: {group: "", kind: ConfigMap}}
    assertions:
    - type: FieldsEqual
      fieldsEqual: {fieldA: data.left, fieldB: data.right}
  - selector: {type: Label, label: {matchLabels: {probed: "yes"}}}
    assertions:
    - type: FieldValue
      fieldValue: {fieldPath: data.state, value: go}
  - selector: {type: GroupKind, groupKind: {group: apps, kind: Deployment}}
    assertions:
    - type: ConditionEqual
      conditionEqual: {type: Progressing, status: "True"}
  phases:
  - name: first
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: NS, labels: {probed: "yes"}}, data: {left: a, right: a}}
  - name: second
    objects:
    - object:` + deployment)
	w.reports("NS-1", "Available=False/ProbeFailure", "Object ConfigMap.v1 NS/config: data.state is not set yet")
	if w.get("apps/v1", "Deployment", "web") != nil {
		t.Error("the next phase was begun")
	}
	state := func(value string) {
		w.edit("v1", "ConfigMap", "config", func(o map[string]any) { o["data"].(map[string]any)["state"] = value })
	}
	state("stop")
	w.reports("NS-1", "Available=False/ProbeFailure", `Object ConfigMap.v1 NS/config: value at key "data.state" != "go"; expected: "go" got: "stop"`)
	state("go")
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	w.there(true, "apps/v1", "Deployment", "web")
}

// secret is one that a user made for a set.
func (w *world) secret(value string, immutable bool) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "objects"}, Type: olmv1.SecretTypeObjectData, Immutable: &immutable,
		Data: map[string][]byte{"config": fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":%q,"name":"config"},"data":{"key":%q}}`, w.Namespace, value)},
	}
}

const referring = header + `
  phases:
  - name: first
    objects: [{ref: {name: objects, namespace: NS, key: config}}]
`

// TestMutableSecret: what could change is not applied.
func TestMutableSecret(t *testing.T) {
	sweep.Nightly(t, "TestMutableSecretsBlock of internal/controller/clusterobjectset with a fake API server")
	w := newWorld(t)
	w.make(w.secret("1", false))
	w.apply(referring)
	w.reports("NS-1", "Progressing=False/Blocked", "NS/objects")
	if w.get("v1", "ConfigMap", "config") != nil {
		t.Error("the object was made")
	}
}

// TestSecrets hold objects; when one comes back with another content, the set says so, and stays as it is.
func TestSecrets(t *testing.T) {
	w := newWorld(t)
	w.make(w.secret("1", true))
	w.apply(referring)
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	must.NoError(t, w.Delete(t.Context(), w.secret("", true)))
	w.make(w.secret("2", true))
	w.reports("NS-1", "Progressing=False/Blocked", `resolved content of 1 phase(s) has changed: phase "first" (its digest was sha256:`)
	must.Equal(t, "the object", w.get("v1", "ConfigMap", "config").Object["data"].(map[string]any)["key"], "1")
}

// waiting is a set that is complete when somebody says so.
const waiting = header + `
  progressDeadlineMinutes: 10
  progressionProbes:
  - selector: {type: GroupKind, groupKind: {group: "", kind: ConfigMap}}
    assertions: [{type: FieldValue, fieldValue: {fieldPath: data.state, value: go}}]
  phases:
  - name: first
    objects:
    - object: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: NS}, data: {key: value}}
`

// overdue is a set whose deadline has passed.
func overdue(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.apply(waiting)
	w.reports("NS-1", "Available=False/ProbeFailure", "data.state is not set yet")
	later.Jump(11 * time.Minute)
	w.change("NS-1", func(s *olmv1.ClusterObjectSet) { s.Annotations = map[string]string{"look": "again"} })
	w.reports("NS-1", "Progressing=False/ProgressDeadlineExceeded", "Revision has not rolled out for 10 minute(s). Last status: Revision 1 is rolling out. Object ConfigMap.v1 NS/config: data.state is not set yet")
	return w
}

// TestArchivingAnOverdueSet cleans up.
func TestArchivingAnOverdueSet(t *testing.T) {
	w := overdue(t)
	w.change("NS-1", func(s *olmv1.ClusterObjectSet) { s.Spec.LifecycleState = olmv1.LifecycleStateArchived })
	w.reports("NS-1", "Progressing=False/Archived", "")
	w.reports("NS-1", "Available=Unknown/Archived", "")
	w.there(false, "v1", "ConfigMap", "config")
	must.Eventually(w, "its finalizer to go", func() error {
		if f := w.set("NS-1").Finalizers; len(f) > 0 {
			return fmt.Errorf("%v", f)
		}
		return nil
	})
	set := w.set("NS-1")
	set.Spec.LifecycleState = olmv1.LifecycleStateActive
	must.Fail(t, "Update", w.Update(t.Context(), set), "cannot un-archive")
}

// TestOverdueSetSucceeds when it is complete after all.
func TestOverdueSetSucceeds(t *testing.T) {
	sweep.Nightly(t, "TestDeadline of internal/controller/clusterobjectset with a fake API server")
	w := overdue(t)
	w.edit("v1", "ConfigMap", "config", func(o map[string]any) { o["data"].(map[string]any)["state"] = "go" })
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	if !meta.IsStatusConditionTrue(w.set("NS-1").Status.Conditions, olmv1.TypeSucceeded) {
		t.Error("it has not succeeded")
	}
}
