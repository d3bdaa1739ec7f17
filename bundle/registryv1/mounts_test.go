package registryv1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMountCert holds what pods mount before, and afterwards.
func TestMountCert(t *testing.T) {
	const ours = "{name: apiservice-cert, mountPath: /apiserver.local.config/certificates}, {name: webhook-cert, mountPath: /tmp/k8s-webhook-server/serving-certs}"
	const volumes = "{name: apiservice-cert, secret: {secretName: s, items: [{key: tls.crt, path: apiserver.crt}, {key: tls.key, path: apiserver.key}]}}, " +
		"{name: webhook-cert, secret: {secretName: s, items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]}}"
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
			got := specOf(t, test.before)
			mountCert(&got, "s")
			if diff := cmp.Diff(yamlOf(t, specOf(t, test.want)), yamlOf(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
