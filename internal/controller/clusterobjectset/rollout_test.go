package clusterobjectset

import (
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// TestRollout: phases wait for each other, the objects say whose they are, and once all is there nothing is written or read again.
func TestRollout(t *testing.T) {
	w := newWorld(t)
	name := w.revise(options(1, configMap(t, "config", "1"), deployment(t, "op", "op:v1"), service(t, "web"), object(t, `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {namespace: ns, name: monitor}
`)))
	w.settle()
	w.expect(name, "Progressing=True/RollingOut", "Revision 1.0.0 is rolling out.")
	w.expect(name, "Available=False/ProbeFailure", "Object Deployment.apps/v1 ns/op: no pod is available yet")
	must.Equal(t, "objects", w.objects(), []string{"ConfigMap/config@1 of ext-1", "Deployment/op@ of ext-1", "Service/web@ of ext-1"})
	monitor := object(t, "{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {namespace: ns, name: monitor}}")
	if w.controller.live.Get(t.Context(), keyOf(monitor), monitor) == nil {
		t.Error("a phase was applied before the one before it is available")
	}
	w.run("op", true)
	w.settle()
	w.expect(name, "Progressing=True/Succeeded: Revision 1.0.0 has rolled out.")
	w.expect(name, "Available=True/ProbesSucceeded")
	w.expect(name, "Succeeded=True/Succeeded")
	if err := w.controller.live.Get(t.Context(), keyOf(monitor), monitor); err != nil {
		t.Error(err)
	}
	u := w.get("ConfigMap", "config")
	wantLabels := map[string]string{managedByLabel: managedByValue, olmv1.OwnerKindKey: "ClusterExtension", olmv1.OwnerNameKey: "ext"}
	must.Equal(t, "labels", u.GetLabels(), wantLabels)
	for key, want := range map[string]string{olmv1.BundleVersionKey: "1.0.0", olmv1.PackageNameKey: "pkg", revision.NumberKey: "1"} {
		if got := u.GetAnnotations()[key]; got != want {
			t.Errorf("annotation %s is %q, want %q", key, got, want)
		}
	}
	w.taken()
	w.settle()
	if len(w.Writes())+len(w.reads) > 0 {
		t.Errorf("nothing has changed, but: %v %v", w.Writes(), w.reads)
	}
}

// TestUnavailableForTheCauseOfItsPods: the condition has the cause, once a Deployment has been unavailable for a while.
func TestUnavailableForTheCauseOfItsPods(t *testing.T) {
	w := newWorld(t)
	w.revise(options(1, deployment(t, "op", "op:v1")))
	w.settle()
	pod := object(t, `
apiVersion: v1
kind: Pod
metadata: {namespace: ns, name: op-1, labels: {app: op}}
status: {containerStatuses: [{name: manager, image: "op:v1", state: {waiting: {reason: ImagePullBackOff}}}]}
`)
	must.NoError(t, w.Inner.Create(t.Context(), pod))
	w.Clock.SetTime(epoch.Add(time.Minute))
	w.run("op", false)
	w.settle()
	w.expect("ext-1", "Available=False/ProbeFailure", "Object Deployment.apps/v1 ns/op: container manager of pod op-1: image op:v1 cannot be pulled; said the test")
}
