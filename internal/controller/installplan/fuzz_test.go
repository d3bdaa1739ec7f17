package installplan

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"sigs.k8s.io/controller-runtime/pkg/client"
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
		w.Clock.SetTime(epoch.Add(2 * time.Minute))
		_, _ = w.reconcile(t)
		checkStatus(t, w.plan(t, "plan"))
		for _, write := range w.Taken() {
			verb, _, _ := strings.Cut(write, " ")
			if write != reported && write != "create ClusterServiceVersion op.v1" && (!strings.HasSuffix(write, " "+name) || verb != "create" && verb != "patch" && verb != "apply") {
				t.Errorf("write %q", write)
			}
		}
	})
}

// FuzzHandWritten gives the controller plans as anybody may write them: no panic, no contradiction, and no step that was not asked for.
func FuzzHandWritten(f *testing.F) {
	f.Add("web.v1.0.0", "cat", "ns", "Manual", false)
	f.Add("web.v1.0.0,base.v1.0.0,,web.v1.0.0", "", "", "Automatic", false)
	f.Add("needy.v1.0.0", "", "olm", "", true)
	f.Add("(.v1[$1", "$1", "ns", "subscription x", true)
	f.Fuzz(func(t *testing.T, names, source, namespace, approval string, approved bool) {
		p := handMade(v1alpha1.Approval(approval), strings.Split(names, ",")...)
		p.Spec.CatalogSource, p.Spec.CatalogSourceNamespace, p.Spec.Approved = source, namespace, approved
		w := newWorld(t, append([]client.Object{p}, objects...)...)
		w.shop(t, "ns", "cat", whole...)
		before := w.plan(t, "plan")
		if before.Spec.Approval != p.Spec.Approval {
			t.Skip("the fake API server does not keep such text")
		}
		for range 3 {
			if _, err := w.reconcile(t); err != nil {
				t.Skip("the fake API server could not store the plan: ", err)
			}
			now := w.plan(t, "plan")
			checkStatus(t, now)
			if now.Status.Phase == v1alpha1.InstallPlanPhaseComplete && !approved && approval != "Automatic" {
				t.Error("it was carried out, and nobody approved it")
			}
		}
	})
}
