package bundle

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// UniqueLists leaves of several variables, ports, volumes or pull secrets with the same key the last one, in its place. When an object is
// created, the API server takes such variables and ports with a warning, and the last variable wins; when it is applied, it refuses them.
func UniqueLists(pod *corev1.PodSpec) {
	pod.Volumes = lastOfEach(pod.Volumes, func(v corev1.Volume) string { return v.Name })
	pod.ImagePullSecrets = lastOfEach(pod.ImagePullSecrets, func(r corev1.LocalObjectReference) string { return r.Name })
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Env = lastOfEach(c.Env, func(e corev1.EnvVar) string { return e.Name })
			c.Ports = lastOfEach(c.Ports, portKey)
		}
	}
}

func portKey(p corev1.ContainerPort) string {
	return fmt.Sprint(p.ContainerPort, "/", cmp.Or(p.Protocol, corev1.ProtocolTCP))
}

// lastOfEach leaves of entries with the same key the last one. A list without such entries is returned as it is.
func lastOfEach[T any](list []T, key func(T) string) []T {
	last := make(map[string]int, len(list))
	for i, item := range list {
		last[key(item)] = i
	}
	if len(last) == len(list) {
		return list
	}
	out := make([]T, 0, len(last))
	for i, item := range list {
		if last[key(item)] == i {
			out = append(out, item)
		}
	}
	return out
}
