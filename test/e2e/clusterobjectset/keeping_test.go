package clusterobjectset

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// revise brings a revision of an extension named after the namespace into the cluster, as the controller of ClusterExtensions does.
func (w *world) revise(number int64, change func(o *revision.Options), objects ...*unstructured.Unstructured) {
	w.Helper()
	o := revision.Options{
		Extension: revision.Extension{Name: w.namespace, Namespace: w.namespace}, Number: number, SystemNamespace: w.namespace, Objects: objects,
		Annotations: map[string]string{olmv1.BundleVersionKey: fmt.Sprintf("%d.0.0", number), olmv1.PackageNameKey: "pkg"},
	}
	if change != nil {
		change(&o)
	}
	r, err := revision.Build(o)
	if err != nil {
		w.Fatal(err)
	}
	if err := revision.Write(w.Context(), w, r); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { w.removeNow(r.Set) })
}

// ofExtension makes a revision one of an extension, which has nothing to install. Only what an extension controls is a family.
func (w *world) ofExtension(o *revision.Options) {
	w.Helper()
	ext := &olmv1.ClusterExtension{}
	err := w.Get(w.Context(), client.ObjectKey{Name: w.namespace}, ext)
	if apierrors.IsNotFound(err) {
		ext = &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}, Spec: olmv1.ClusterExtensionSpec{Namespace: w.namespace,
			Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: "pkg",
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"no": "catalog"}}}}}}
		if err = w.Create(w.Context(), ext); err == nil {
			w.Cleanup(func() { w.removeNow(ext) })
		}
	}
	if err != nil {
		w.Fatal(err)
	}
	o.Extension.UID = ext.UID
}

func (w *world) configMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": w.namespace, "name": name}, "data": map[string]any{"key": value}}}
}

func (w *world) web(image string) *unstructured.Unstructured {
	labels := map[string]any{"app": "web"}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"namespace": w.namespace, "name": "web"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": image}}}}}}}
}

// TestUpgrade: the next revision takes over, and archives the one before; what is no longer wanted goes. The Secrets go with their sets.
func TestUpgrade(t *testing.T) {
	w := newWorld(t)
	w.revise(1, w.ofExtension, w.configMap("config", "1"), w.configMap("old", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "Revision 1.0.0 has rolled out.")
	uid := w.get("apps/v1", "Deployment", "web").GetUID()
	for _, p := range w.set("NS-1").Spec.Phases {
		ref := p.Objects[0].Ref
		s := w.get("v1", "Secret", ref.Name)
		if immutable, _, _ := unstructured.NestedBool(s.Object, "immutable"); !immutable || s.Object["type"] != olmv1.SecretTypeObjectData ||
			!slices.ContainsFunc(s.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Name == w.namespace+"-1" }) {
			t.Errorf("Secret of phase %s: %v", p.Name, s.Object["metadata"])
		}
	}
	w.revise(2, w.ofExtension, w.configMap("config", "2"), w.web("web:v2"), w.configMap("new", "2"))
	w.reports("NS-2", "Progressing=True/Succeeded", "Revision 2.0.0 has rolled out.")
	w.reports("NS-1", "Progressing=False/Archived", "")
	w.there(false, "v1", "ConfigMap", "old")
	if got := w.get("v1", "ConfigMap", "config"); got.Object["data"].(map[string]any)["key"] != "2" || metav1.GetControllerOf(got).Name != w.namespace+"-2" {
		t.Errorf("%v", got.Object)
	}
	if w.get("apps/v1", "Deployment", "web").GetUID() != uid {
		t.Error("the workload was made anew")
	}
}

// TestGivingUp: a revision that cannot be completed gives back what it took over when it is deleted.
func TestGivingUp(t *testing.T) {
	w := newWorld(t)
	w.revise(1, w.ofExtension, w.configMap("config", "1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	broken := w.web("web:v2")
	if err := unstructured.SetNestedField(broken.Object, map[string]any{"no": "node"}, "spec", "template", "spec", "nodeSelector"); err != nil {
		t.Fatal(err)
	}
	w.revise(2, w.ofExtension, w.configMap("config", "2"), broken)
	w.reports("NS-2", "Available=False/ProbeFailure", "Object Deployment.apps/v1 NS/web: ")
	w.reports("NS-1", "Progressing=True/RollingOut", "")
	if err := w.Delete(t.Context(), w.set("NS-2")); err != nil {
		t.Fatal(err)
	}
	w.there(false, "apps/v1", "Deployment", "web")
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	if got := w.get("v1", "ConfigMap", "config"); got.Object["data"].(map[string]any)["key"] != "1" {
		t.Errorf("%v", got.Object)
	}
}

// TestDrift: deleted and changed objects come back, what others add stays, and a restarted workload stays restarted.
func TestDrift(t *testing.T) {
	w := newWorld(t)
	w.revise(1, nil, w.configMap("config", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	w.edit("v1", "ConfigMap", "config", func(o map[string]any) {
		o["data"] = map[string]any{"key": "theirs", "more": "theirs"}
		o["metadata"].(map[string]any)["labels"].(map[string]any)["theirs"] = "too"
	})
	w.eventually("the edit to be healed", func() error {
		u := w.get("v1", "ConfigMap", "config")
		data := u.Object["data"].(map[string]any)
		if data["key"] != "1" || data["more"] != "theirs" || u.GetLabels()["theirs"] != "too" {
			return fmt.Errorf("%v %v", data, u.GetLabels())
		}
		return nil
	})
	if err := w.Delete(t.Context(), w.configMap("config", "")); err != nil {
		t.Fatal(err)
	}
	w.there(true, "v1", "ConfigMap", "config")
	w.edit("apps/v1", "Deployment", "web", func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "now", "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
	})
	w.edit("apps/v1", "Deployment", "web", func(o map[string]any) {
		_ = unstructured.SetNestedField(o, "web:theirs", "spec", "template", "spec", "containers")
		containers := []any{map[string]any{"name": "web", "image": "web:theirs"}}
		_ = unstructured.SetNestedSlice(o, containers, "spec", "template", "spec", "containers")
	})
	w.eventually("the image to come back", func() error {
		u := w.get("apps/v1", "Deployment", "web")
		containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", "containers")
		restarted, _, _ := unstructured.NestedString(u.Object, "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
		if image := containers[0].(map[string]any)["image"]; image != "web:v1" || restarted != "now" {
			return fmt.Errorf("image %v, restarted %q", image, restarted)
		}
		return nil
	})
}

// TestCollision is told, and over as soon as the other object is gone; nothing is written before.
func TestCollision(t *testing.T) {
	w := newWorld(t)
	w.make(w.configMap("config", "theirs"))
	w.revise(1, nil, w.configMap("config", "1"), w.configMap("other", "1"))
	w.reports("NS-1", "Progressing=True/Retrying", "revision object collisions in phase configuration: ConfigMap NS/config")
	if w.get("v1", "ConfigMap", "other") != nil {
		t.Error("half of it was written")
	}
	if err := w.Delete(t.Context(), w.configMap("config", "")); err != nil {
		t.Fatal(err)
	}
	w.reports("NS-1", "Progressing=True/Succeeded", "")
}

// TestTeardown: the objects of a deleted set go phase by phase, the last first, and the set tells what it waits for.
func TestTeardown(t *testing.T) {
	w := newWorld(t)
	w.revise(1, nil, w.configMap("config", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	hold := func(finalizers ...string) {
		w.edit("apps/v1", "Deployment", "web", func(o map[string]any) { (&unstructured.Unstructured{Object: o}).SetFinalizers(finalizers) })
	}
	hold("example.com/hold")
	if err := w.Delete(t.Context(), w.set("NS-1"), client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
	w.reports("NS-1", "Progressing=True/Retrying", "2 of 2 objects are left.\nDeployment NS/web is being deleted, which waits for [example.com/hold]")
	if w.get("v1", "ConfigMap", "config") == nil {
		t.Error("an earlier phase went first")
	}
	hold()
	w.there(false, "v1", "ConfigMap", "config")
	w.eventually("the set to go", func() error { return client.IgnoreNotFound(w.gone("NS-1")) })
}

// TestServiceAccount: a set is read and written as its account; what that may not do is told, and goes on when it may.
func TestServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.apply(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: installer, namespace: NS}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: installer, namespace: NS}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [create]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: installer, namespace: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: installer}
subjects: [{kind: ServiceAccount, name: installer, namespace: NS}]
`)
	w.revise(1, func(o *revision.Options) { o.ServiceAccount = "installer" }, w.configMap("config", "1"), w.web("web:v1"))
	w.reports("NS-1", "Progressing=True/Retrying", `ServiceAccount NS/installer lacks the rule {apiGroups: [""], resources: [secrets], verbs: [get]}`)
	w.edit("rbac.authorization.k8s.io/v1", "Role", "installer", func(o map[string]any) {
		o["rules"] = append(o["rules"].([]any), map[string]any{"apiGroups": []any{""}, "resources": []any{"secrets"}, "verbs": []any{"get"}})
	})
	w.reports("NS-1", "Progressing=True/Retrying", `ServiceAccount NS/installer lacks the rule {apiGroups: ["apps"], resources: [deployments], verbs: [create]}`)
	w.there(true, "v1", "ConfigMap", "config")
	w.edit("rbac.authorization.k8s.io/v1", "Role", "installer", func(o map[string]any) {
		o["rules"] = []any{map[string]any{"apiGroups": []any{"", "apps"}, "resources": []any{"configmaps", "deployments", "secrets"}, "verbs": []any{"create", "delete", "get"}}}
	})
	w.reports("NS-1", "Progressing=True/Succeeded", "")
	if err := w.Delete(t.Context(), w.get("v1", "ServiceAccount", "installer")); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), w.set("NS-1")); err != nil {
		t.Fatal(err)
	}
	w.there(false, "v1", "ConfigMap", "config")
}
