package clusterextension

import (
	"testing"

	"fairlead.dev/fairlead/internal/schedule"
	"fairlead.dev/fairlead/test/harness"

	corev1 "k8s.io/api/core/v1"
)

// TestUpgradeWindow: the namespace that an extension installs into holds its upgrade, and what the Namespace says next lets it begin.
func TestUpgradeWindow(t *testing.T) {
	w := newWorld(t)
	says := func(window string) {
		t.Helper()
		harness.Edit(t, w.Client, "", w.name, &corev1.Namespace{}, func(ns *corev1.Namespace) { ns.Annotations = map[string]string{schedule.WindowKey: window} })
	}
	says("never")
	all := three(w.name)
	w.publish(all[0])
	w.extend(w.name, w.name)
	w.installed(w.name, all[0].name()) // a first installation does not wait
	w.publish(all[0], all[1])
	w.says(w.name, "Progressing", "True", "Succeeded", "upgrade held: "+all[1].name()+" cannot begin")
	says("freeze 2020-01-01..2999-12-31 UTC")
	w.says(w.name, "Progressing", "True", "Succeeded", "upgrade held until 3000-01-01T00:00:00Z: "+all[1].name()+" waits for")
	if got := w.revisions(w.name); len(got) != 1 {
		t.Errorf("there are %d revisions while it waits", len(got))
	}
	says("always")
	w.installed(w.name, all[1].name())
}
