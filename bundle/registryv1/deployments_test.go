package registryv1

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
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

// TestDeploymentConfig holds that each key of a configuration reaches the pods: a part of them before, the configuration, the part afterwards.
// How each one is merged is proved in package bundle, for both APIs.
func TestDeploymentConfig(t *testing.T) {
	tests := map[string]struct{ before, config, want string }{
		"every key": {
			"nodeSelector: {a: b}\ntolerations: [{key: a}]\nvolumes: [{name: v, emptyDir: {}}]\ninitContainers: [{name: i}]\ncontainers: [{name: a, env: [{name: A, value: '1'}], envFrom: [{configMapRef: {name: c}}]}, {name: b}]",
			`{"env": [{"name": "A", "value": "2"}], "envFrom": [{"secretRef": {"name": "s"}}], "volumes": [{"name": "v", "secret": {"secretName": "s"}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
				"tolerations": [{"key": "b"}], "nodeSelector": {"c": "d"}, "resources": {"requests": {"memory": "1Gi"}},
				"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a"}]}}}`,
			"nodeSelector: {c: d}\ntolerations: [{key: a}, {key: b}]\nvolumes: [{name: v, secret: {secretName: s}}]\ninitContainers: [{name: i}]\naffinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\n" +
				"containers: [{name: a, env: [{name: A, value: '2'}], envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}], volumeMounts: [{name: v, mountPath: /v}], resources: {requests: {memory: 1Gi}}}, " +
				"{name: b, env: [{name: A, value: '2'}], envFrom: [{secretRef: {name: s}}], volumeMounts: [{name: v, mountPath: /v}], resources: {requests: {memory: 1Gi}}}]"},
		"empty objects erase": {
			"nodeSelector: {a: b}\naffinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\ncontainers: [{name: a, resources: {limits: {cpu: '1'}}}]",
			`{"nodeSelector": {}, "resources": {}, "affinity": {}}`,
			"containers: [{name: a}]"},
		"null keeps": {
			"nodeSelector: {a: b}\naffinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\ncontainers: [{name: a, resources: {limits: {cpu: '1'}}}]",
			`{"nodeSelector": null, "resources": null, "affinity": null}`,
			"nodeSelector: {a: b}\naffinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}\ncontainers: [{name: a, resources: {limits: {cpu: '1'}}}]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got corev1.PodSpec
			convert(t, pod(t, configured(t, func(b *bundle.Bundle) { podOf(b).Spec = specOf(t, test.before) }, test.config)), &got)
			must.Equal(t, "result", yamlOf(t, got), yamlOf(t, specOf(t, test.want)))
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
	must.NoError(t, json.Unmarshal([]byte(asJSON(t, from)), to))
}

// maxPodAnnotation is the length of the longest annotation of a ClusterServiceVersion that pods get without reading it.
const maxPodAnnotation = 1024

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
	must.Equal(t, "pods", template(t, out)["metadata"].(map[string]any)["annotations"], any(want))
	deployment := find(t, out, "Deployment", "operators", "op.manager")
	metadata := map[string]any{
		"name": "op.manager", "namespace": "operators", "labels": map[string]any{"app": "op"},
		"annotations": map[string]any{"short": "config", "new": "config", "olm.targetNamespaces": "config"},
	}
	must.Equal(t, "Deployment", deployment["metadata"], any(metadata))
	must.Equal(t, "revisionHistoryLimit", deployment["spec"].(map[string]any)["revisionHistoryLimit"], any(int64(1)))
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
	must.Equal(t, "env", yamlOf(t, container(t, out)["env"]), "- name: A\n  value: \"2\"\n")
}

// TestMountCert holds what pods mount before, and afterwards.
func TestMountCert(t *testing.T) {
	const ours = "{name: apiservice-cert, mountPath: /apiserver.local.config/certificates}, {name: webhook-cert, mountPath: /tmp/k8s-webhook-server/serving-certs}"
	const volumes = "{name: apiservice-cert, secret: {secretName: op-manager-service-cert, items: [{key: tls.crt, path: apiserver.crt}, {key: tls.key, path: apiserver.key}]}}, " +
		"{name: webhook-cert, secret: {secretName: op-manager-service-cert, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}}"
	tests := map[string]struct{ before, want string }{
		"nothing": {
			"containers: [{name: a}, {name: b}]",
			"volumes: [" + volumes + "]\ncontainers: [{name: a, volumeMounts: [" + ours + "]}, {name: b, volumeMounts: [" + ours + "]}]"},
		"another volume at the place of ours, mounted by an init container as well": {
			"volumes: [{name: certs, secret: {secretName: theirs}}, {name: v, emptyDir: {}}]\ninitContainers: [{name: i, volumeMounts: [{name: certs, mountPath: /tmp/k8s-webhook-server/serving-certs/}]}]\n" +
				"containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}, {name: certs, mountPath: /tmp/k8s-webhook-server/serving-certs}]}]",
			"volumes: [{name: v, emptyDir: {}}, " + volumes + "]\ninitContainers: [{name: i, volumeMounts: [{name: webhook-cert, mountPath: /tmp/k8s-webhook-server/serving-certs}]}]\n" +
				"containers: [{name: a, volumeMounts: [{name: v, mountPath: /v}, " + ours + "]}]"},
		"a volume that is mounted elsewhere too stays": {
			"volumes: [{name: certs, secret: {secretName: theirs}}]\ncontainers: [{name: a, volumeMounts: [{name: certs, mountPath: /tmp/k8s-webhook-server/serving-certs}]}, {name: b, volumeMounts: [{name: certs, mountPath: /b}]}]",
			"volumes: [{name: certs, secret: {secretName: theirs}}, " + volumes + "]\ncontainers: [{name: a, volumeMounts: [" + ours + "]}, {name: b, volumeMounts: [{name: certs, mountPath: /b}, " + ours + "]}]"},
		"a volume of our name, mounted elsewhere": {
			"volumes: [{name: webhook-cert, secret: {secretName: theirs}}]\ncontainers: [{name: a, volumeMounts: [{name: webhook-cert, mountPath: /elsewhere}]}]",
			"volumes: [" + volumes + "]\ncontainers: [{name: a, volumeMounts: [{name: webhook-cert, mountPath: /elsewhere}, " + ours + "]}]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got corev1.PodSpec
			convert(t, pod(t, mustRender(t, loadTest(t, func(b *bundle.Bundle) {
				b.CSV.Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{hook(validating, "v.example.com")}
				podOf(b).Spec = specOf(t, test.before)
			}), Options{})), &got)
			must.Equal(t, "result", yamlOf(t, got), yamlOf(t, specOf(t, test.want)))
		})
	}
}
