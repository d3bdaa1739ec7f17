package gitops

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// kinds are the kinds that have a verdict, with their groups and versions.
var kinds = map[string]string{
	"ClusterExtension": "olm.operatorframework.io/v1", "ClusterCatalog": "olm.operatorframework.io/v1", "ClusterObjectSet": "olm.operatorframework.io/v1",
	"Subscription": "operators.coreos.com/v1alpha1", "InstallPlan": "operators.coreos.com/v1alpha1", "ClusterServiceVersion": "operators.coreos.com/v1alpha1",
	"CatalogSource": "operators.coreos.com/v1alpha1", "OperatorGroup": "operators.coreos.com/v1",
}

// TestVerdicts judges all states of all kinds. What each state is stands in testdata/verdicts.txt, which people write, not the controllers.
func TestVerdicts(t *testing.T) {
	want := map[string]health{}
	for line := range strings.Lines(read(t, "test", "gitops", "testdata", "verdicts.txt")) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		is, state, _ := strings.Cut(line, " ")
		want[strings.TrimSpace(state)] = health(is)
	}
	script, shipped, seen := read(t, "config", "gitops", "argocd", "health.lua"), shippedExpressions(t), map[string]bool{}
	for _, s := range golden.AllStates(t, filepath.Join(root, "internal", "controller")) {
		name := s.Kind + ": " + s.Name
		seen[s.Kind] = true
		t.Run(name, func(t *testing.T) {
			is, known := want[name]
			if !known {
				t.Fatalf("testdata/verdicts.txt does not say what %q is", name)
			}
			delete(want, name)
			object := whole(t, s.Object)
			judge(t, object, is, script, shipped[s.Kind])
			// Whatever it was, another spec is not reached before a controller has observed it.
			changed := runtime.DeepCopyJSON(object)
			unstructured.RemoveNestedField(changed, "metadata", "generation")
			must.NoError(t, unstructured.SetNestedField(changed, generation(object)+1, "metadata", "generation"))
			judge(t, changed, progressing, script, shipped[s.Kind])
			deleted := runtime.DeepCopyJSON(object)
			must.NoError(t, unstructured.SetNestedField(deleted, "2026-11-01T00:00:00Z", "metadata", "deletionTimestamp"))
			must.Equal(t, "kstatus of one that is deleted", kstatus(t, deleted), "Terminating")
			must.Equal(t, "Argo CD of one that is deleted", argo(t, script, deleted), "Progressing")
		})
	}
	must.Equal(t, "kinds with states", slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(kinds)))
	must.Empty(t, "states that no test of a controller leads to any more", slices.Sorted(maps.Keys(want)))
}

// whole is an object with numbers as the API machinery has them, and a generation: the tests of some controllers have none.
func whole(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	u := &unstructured.Unstructured{}
	must.NoError(t, u.UnmarshalJSON(must.Value(json.Marshal(object))(t)))
	if u.GetGeneration() == 0 {
		u.SetGeneration(1)
		must.NoError(t, unstructured.SetNestedField(u.Object, int64(1), "status", "observedGeneration"))
	}
	return u.Object
}

func generation(object map[string]any) int64 {
	return (&unstructured.Unstructured{Object: object}).GetGeneration()
}

// TestUnobserved: an object that was just applied is in progress for all, before any controller has come to it. The API server gives it the default status.
func TestUnobserved(t *testing.T) {
	script, shipped, judged := read(t, "config", "gitops", "argocd", "health.lua"), shippedExpressions(t), []string{}
	for _, crd := range must.Value(crds.All())(t) {
		apiVersion, ours := kinds[crd.Spec.Names.Kind]
		if !ours {
			continue
		}
		judged = append(judged, crd.Spec.Names.Kind)
		i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
		object := map[string]any{"apiVersion": apiVersion, "kind": crd.Spec.Names.Kind, "metadata": map[string]any{"name": "x", "generation": int64(1)}}
		var status map[string]any
		must.NoError(t, json.Unmarshal(crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["status"].Default.Raw, &status))
		object["status"] = status
		judge(t, whole(t, object), progressing, script, shipped[crd.Spec.Names.Kind])
	}
	slices.Sort(judged)
	must.Equal(t, "kinds", judged, slices.Sorted(maps.Keys(kinds)))
}

// TestCopies: a copy of a ClusterServiceVersion asks for nothing, and is never what a deployment waits for.
func TestCopies(t *testing.T) {
	object := map[string]any{"apiVersion": kinds["ClusterServiceVersion"], "kind": "ClusterServiceVersion",
		"metadata": map[string]any{"generation": int64(1), "labels": map[string]any{"olm.copiedFrom": "operators"}},
		"status":   map[string]any{"phase": "Succeeded", "reason": "Copied", "conditions": []any{map[string]any{"phase": "Succeeded", "reason": "InstallSucceeded"}}}}
	must.Equal(t, "kstatus", kstatus(t, object), "Current")
	must.Equal(t, "Argo CD", argo(t, read(t, "config", "gitops", "argocd", "health.lua"), object), "Healthy")
	must.Equal(t, "Flux", flux(t, shippedExpressions(t)["ClusterServiceVersion"], object), "Current")
}

var write = flag.Bool("write", false, "write the ConfigMap of Argo CD from its health check")

// TestConfigMap: the ConfigMap of Argo CD has the health check under the key of each kind.
func TestConfigMap(t *testing.T) {
	script, file := read(t, "config", "gitops", "argocd", "health.lua"), filepath.Join(root, "config", "gitops", "argocd", "argocd-cm.yaml")
	if *write {
		text := "# The health checks of health.lua, one for each kind. A patch of the ConfigMap of Argo CD: docs/gitops.md.\n" +
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\n  namespace: argocd\n  labels:\n    app.kubernetes.io/name: argocd-cm\n    app.kubernetes.io/part-of: argocd\ndata:\n"
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			group, _, _ := strings.Cut(kinds[kind], "/")
			text += "  resource.customizations.health." + group + "_" + kind + ": |\n"
			for line := range strings.Lines(script) {
				if line != "\n" {
					text += "    "
				}
				text += line
			}
		}
		must.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	var got corev1.ConfigMap
	must.NoError(t, yaml.UnmarshalStrict([]byte(read(t, "config", "gitops", "argocd", "argocd-cm.yaml")), &got))
	want := map[string]string{}
	for kind, apiVersion := range kinds {
		group, _, _ := strings.Cut(apiVersion, "/")
		want["resource.customizations.health."+group+"_"+kind] = script
	}
	must.Equal(t, "run with -write if the health check is right", got.Data, want)
}
