package registryv1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/bundle"
)

// configured renders the test bundle with a deploymentConfig.
func configured(t *testing.T, edit func(*bundle.Bundle), config string) *Rendered {
	t.Helper()
	return mustRender(t, loadTest(t, edit), Options{Config: json.RawMessage(`{"deploymentConfig": ` + config + `}`)})
}

// podOf is the template of the only Deployment of a bundle.
func podOf(b *bundle.Bundle) *corev1.PodTemplateSpec {
	return &b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[0].Spec.Template
}

// TestDeploymentConfig holds how each key of a configuration is merged: a part of the pods before, the configuration, the part afterwards.
func TestDeploymentConfig(t *testing.T) {
	tests := map[string]struct{ before, config, want string }{
		"env replaces by name and adds": {
			"containers: [{name: a, env: [{name: A, value: '1'}, {name: B, value: '2'}]}, {name: b}]",
			`{"env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]}`,
			"containers: [{name: a, env: [{name: A, value: '1'}, {name: B, value: '3'}, {name: C, value: '4'}]}, {name: b, env: [{name: B, value: '3'}, {name: C, value: '4'}]}]"},
		"envFrom adds what is not there": {
			"containers: [{name: a, envFrom: [{configMapRef: {name: c}}]}]",
			`{"envFrom": [{"configMapRef": {"name": "c"}}, {"secretRef": {"name": "s"}}]}`,
			"containers: [{name: a, envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]}]"},
		"volumes and mounts replace by name and add": {
			"volumes: [{name: v, emptyDir: {}}, {name: w, emptyDir: {}}]\ncontainers: [{name: a, volumeMounts: [{name: v, mountPath: /old}]}]",
			`{"volumes": [{"name": "v", "secret": {"secretName": "s"}}, {"name": "x", "emptyDir": {}}], "volumeMounts": [{"name": "v", "mountPath": "/new"}, {"name": "x", "mountPath": "/x"}]}`,
			"volumes: [{name: v, secret: {secretName: s}}, {name: w, emptyDir: {}}, {name: x, emptyDir: {}}]\ncontainers: [{name: a, volumeMounts: [{name: v, mountPath: /new}, {name: x, mountPath: /x}]}]"},
		"tolerations add what is not there": {
			"tolerations: [{key: a}]\ncontainers: [{name: a}]",
			`{"tolerations": [{"key": "a"}, {"key": "b"}]}`,
			"tolerations: [{key: a}, {key: b}]\ncontainers: [{name: a}]"},
		"resources and nodeSelector replace": {
			"nodeSelector: {a: b}\ncontainers: [{name: a, resources: {limits: {cpu: '1'}}}]",
			`{"nodeSelector": {"c": "d"}, "resources": {"requests": {"memory": "1Gi"}}}`,
			"nodeSelector: {c: d}\ncontainers: [{name: a, resources: {requests: {memory: 1Gi}}}]"},
		"empty resources and nodeSelector erase": {
			"nodeSelector: {a: b}\ncontainers: [{name: a, resources: {limits: {cpu: '1'}}}]",
			`{"nodeSelector": {}, "resources": {}}`,
			"containers: [{name: a}]"},
		"init containers stay": {
			"initContainers: [{name: i}]\ncontainers: [{name: a}]",
			`{"env": [{"name": "A"}], "resources": {"limits": {"cpu": "1"}}}`,
			"initContainers: [{name: i}]\ncontainers: [{name: a, env: [{name: A}], resources: {limits: {cpu: '1'}}}]"},
		"affinity absent keeps": {
			"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\ncontainers: [{name: a}]",
			`{"affinity": null}`,
			"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\ncontainers: [{name: a}]"},
		"affinity empty erases": {
			"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\ncontainers: [{name: a}]",
			`{"affinity": {}}`,
			"containers: [{name: a}]"},
		"affinity parts replace, erase and stay": {
			"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: b}]}, nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}\ncontainers: [{name: a}]",
			`{"affinity": {"podAffinity": {}, "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "Exists"}]}]}}}}`,
			"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: b}]}, nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: k, operator: Exists}]}]}}}\ncontainers: [{name: a}]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got corev1.PodSpec
			convert(t, pod(t, configured(t, func(b *bundle.Bundle) { podOf(b).Spec = specOf(t, test.before) }, test.config)), &got)
			if diff := cmp.Diff(yamlOf(t, specOf(t, test.want)), yamlOf(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func specOf(t *testing.T, text string) corev1.PodSpec {
	t.Helper()
	var out corev1.PodSpec
	convert(t, manifest(t, text).Object, &out)
	return out
}

func convert(t *testing.T, from, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(asJSON(t, from)), to); err != nil {
		t.Fatal(err)
	}
}

// TestAnnotations holds which annotations Deployments and pods have.
func TestAnnotations(t *testing.T) {
	long := strings.Repeat("x", maxPodAnnotation+1)
	edit := func(b *bundle.Bundle) {
		b.CSV.Annotations = map[string]string{"alm-examples": long, "short": "csv", "limit": long[1:], "read": long, "file": long, "olm.operatorNamespace": "csv"}
		podOf(b).Annotations = map[string]string{"short": "template", "own": "template", "olm.targetNamespaces": "template"}
		podOf(b).Spec.InitContainers = []corev1.Container{{Name: "i", Env: []corev1.EnvVar{{Name: "R", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['read']"}}}}}}
		podOf(b).Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "f", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['file']"}}}},
		}}}}}}
	}
	out := configured(t, edit, `{"annotations": {"short": "config", "new": "config", "olm.targetNamespaces": "config"}}`)
	want := map[string]any{
		"short": "template", "own": "template", "limit": long[1:], "read": long, "file": long, "new": "config",
		"olm.targetNamespaces": "", "olm.operatorNamespace": "operators",
	}
	if diff := cmp.Diff(want, template(t, out)["metadata"].(map[string]any)["annotations"]); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	deployment := find(t, out, "Deployment", "operators", "op.manager")
	metadata := map[string]any{
		"name": "op.manager", "namespace": "operators", "labels": map[string]any{"app": "op"},
		"annotations": map[string]any{"short": "config", "new": "config", "olm.targetNamespaces": "config"},
	}
	if diff := cmp.Diff(metadata, deployment["metadata"]); diff != "" {
		t.Errorf("Deployment (-want +got):\n%s", diff)
	}
	if limit := deployment["spec"].(map[string]any)["revisionHistoryLimit"]; limit != int64(1) {
		t.Errorf("revisionHistoryLimit %v", limit)
	}
}

func TestAllAnnotationsInAFile(t *testing.T) {
	long := strings.Repeat("x", maxPodAnnotation+1)
	b := loadTest(t, func(b *bundle.Bundle) {
		b.CSV.Annotations["alm-examples"] = long
		podOf(b).Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{Path: "f", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations"}}},
		}}}}
	})
	annotations := template(t, mustRender(t, b, Options{}))["metadata"].(map[string]any)["annotations"].(map[string]any)
	if annotations["alm-examples"] != long {
		t.Error("pods that read all annotations do not have all")
	}
}

// TestListsHaveNoDuplicates: they could not be applied.
func TestListsHaveNoDuplicates(t *testing.T) {
	out := mustRender(t, loadTest(t, func(b *bundle.Bundle) {
		podOf(b).Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
	}), Options{})
	if got := yamlOf(t, container(t, out)["env"]); got != "- name: A\n  value: \"2\"\n" {
		t.Errorf("env %s", got)
	}
}
