package installplan

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// FuzzManifest gives the controller steps that nobody checked: no panic, no contradiction, and nothing but the listed object.
func FuzzManifest(f *testing.F) {
	for _, manifest := range []string{csvYAML, crdYAML, serviceYAML, accountYAML, subYAML} {
		s := step(f, manifest)
		f.Add(s.Resource.Kind, s.Resource.Group, s.Resource.Version, s.Resource.Name, s.Resource.Manifest)
	}
	f.Add("Service", "", "v1", "web", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","annotations":7,"ownerReferences":[null]},"spec":[]}`)
	f.Add("CustomResourceDefinition", "apiextensions.k8s.io", "v1", "x", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"},"spec":{"versions":[1,null,{"name":3}]}}`)
	f.Add("Secret", "", "v1", "pull", ``)
	f.Fuzz(func(t *testing.T, kind, group, version, name, manifest string) {
		s := &v1alpha1.Step{Resolving: "op.v1", Status: v1alpha1.StepStatusUnknown, Resource: v1alpha1.StepResource{
			Kind: kind, Group: group, Version: version, Name: name, Manifest: manifest,
		}}
		w := newWorld(t, newPlan(step(t, csvYAML), s), pullSecret())
		if _, err := w.reconcile(t); err != nil {
			t.Skip("the fake API server could not store the plan: ", err)
		}
		w.clock.SetTime(epoch.Add(2 * time.Minute))
		_, _ = w.reconcile(t)
		checkStatus(t, w.plan(t, "plan"))
		for _, write := range w.taken() {
			if write != "status of plan" && write != "create op.v1" && write != "create "+name && write != "patch "+name && write != "apply "+name {
				t.Errorf("write %q", write)
			}
		}
	})
}
