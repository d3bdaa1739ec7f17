package registryv1

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/bundle"
)

// mountCert mounts the serving certificate in a Secret into every container, where libraries look for it. What was mounted there gives way, and
// with it the volumes that nothing mounts any more: their Secrets are those of another way of installing, and no pod starts without them. Init
// containers get no certificate, but where they mount one they mount this one.
func mountCert(pod *corev1.PodSpec, secret string) {
	volumes, mounts := bundle.CertVolumes(secret), bundle.CertMounts()
	displaced := map[string]bool{}
	place := func(m corev1.VolumeMount) int {
		return slices.IndexFunc(mounts, func(ours corev1.VolumeMount) bool { return ours.MountPath == path.Clean(m.MountPath) })
	}
	for i := range pod.InitContainers {
		for j, m := range pod.InitContainers[i].VolumeMounts {
			if at := place(m); at >= 0 {
				displaced[m.Name] = true
				pod.InitContainers[i].VolumeMounts[j] = mounts[at]
			}
		}
	}
	for i := range pod.Containers {
		c := &pod.Containers[i]
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			if place(m) < 0 {
				return false
			}
			displaced[m.Name] = true
			return true
		})
		c.VolumeMounts = append(c.VolumeMounts, mounts...)
	}
	for name := range displaced {
		if mounted(pod, name) {
			delete(displaced, name)
		}
	}
	for _, ours := range volumes {
		displaced[ours.Name] = true
	}
	pod.Volumes = append(slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return displaced[v.Name] }), volumes...)
}

// mounted says whether a container mounts a volume.
func mounted(pod *corev1.PodSpec, volume string) bool {
	return slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume })
	})
}
