package bundle

import (
	"cmp"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Keys of the Secret of a serving certificate.
const (
	ServingCertKey = corev1.TLSCertKey
	ServingKeyKey  = corev1.TLSPrivateKeyKey
	ServingCAKey   = "olmCAKey"
)

// The volumes that a serving certificate is mounted through, with the directories where the libraries that serve
// aggregated APIs and webhooks look for it.
const (
	apiServiceVolume = "apiservice-cert"
	apiServiceDir    = "/apiserver.local.config/certificates"
	webhookVolume    = "webhook-cert"
	webhookDir       = "/tmp/k8s-webhook-server/serving-certs"
)

// ServingCert is the certificate that the pods of a Deployment serve their webhooks and aggregated APIs with.
type ServingCert struct {
	// Secret holds the certificate; that of ServingSecretName when empty.
	Secret string
	// CA is the authority of the certificate in PEM form. It may be unknown to us, when others inject it.
	CA []byte
}

// ServingServiceName is the name of the Service in front of a Deployment that serves webhooks or aggregated APIs. The
// name of a Service cannot have the dots that the name of a Deployment can.
func ServingServiceName(deployment string) string {
	return strings.ReplaceAll(deployment, ".", "-") + "-service"
}

// ServingSecretName is the name of the Secret with the serving certificate of a Deployment.
func ServingSecretName(deployment string) string { return ServingServiceName(deployment) + "-cert" }

// ServingHosts are the names that a serving certificate has to be valid for.
func ServingHosts(deployment, namespace string) []string {
	host := ServingServiceName(deployment) + "." + namespace
	return []string{host, host + ".svc", host + ".svc.cluster.local"}
}

// mountCert mounts a serving certificate into every container and marks the pods with its authority, so that a new
// authority rolls them out again. The account is named because the right to read the Secret is bound to it. A volume of that
// name is replaced; what its author mounted somewhere already stays, and what is mounted at its place gives way.
func (d owned) mountCert(template *corev1.PodTemplateSpec, cert ServingCert, deployment string) {
	volumes, mounts := certVolumes(cmp.Or(cert.Secret, ServingSecretName(deployment)))
	pod := &template.Spec
	pod.ServiceAccountName = cmp.Or(pod.ServiceAccountName, DefaultServiceAccount)
	pod.Volumes = mergeByName(pod.Volumes, volumes, func(v corev1.Volume) string { return v.Name })
	for i := range pod.Containers {
		c := &pod.Containers[i]
		for _, mount := range mounts {
			at := slices.IndexFunc(c.VolumeMounts, func(have corev1.VolumeMount) bool {
				return have.Name == mount.Name || have.MountPath == mount.MountPath
			})
			switch {
			case at < 0:
				c.VolumeMounts = append(c.VolumeMounts, mount)
			case c.VolumeMounts[at].Name != mount.Name:
				c.VolumeMounts[at] = mount
			}
		}
	}
	if len(cert.CA) > 0 {
		template.Annotations = union(template.Annotations, map[string]string{v1alpha1.CAHashAnnotation: CAHash(cert.CA)})
	}
}

// mountCert mounts a serving certificate into every container, where libraries look for it. What was mounted there gives way, and
// with it the volumes that nothing mounts any more: their Secrets are those of another way of installing, and no pod starts without them. Init
// containers get no certificate, but where they mount one they mount this one.
func (d *Extension) mountCert(template *corev1.PodTemplateSpec, cert ServingCert, deployment string) {
	volumes, mounts := certVolumes(cmp.Or(cert.Secret, ServingSecretName(deployment)))
	pod := &template.Spec
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
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, m := range c.VolumeMounts {
			delete(displaced, m.Name)
		}
	}
	for _, ours := range volumes {
		displaced[ours.Name] = true
	}
	pod.Volumes = append(slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool { return displaced[v.Name] }), volumes...)
}

// certVolumes are the volumes that pods have the serving certificate in a Secret through, under the file names that the
// libraries for aggregated APIs and for webhooks look for, and the mounts of them.
func certVolumes(secret string) ([]corev1.Volume, []corev1.VolumeMount) {
	volume := func(name, certFile, keyFile string) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: secret,
			Items:      []corev1.KeyToPath{{Key: ServingCertKey, Path: certFile}, {Key: ServingKeyKey, Path: keyFile}},
		}}}
	}
	return []corev1.Volume{
			volume(apiServiceVolume, "apiserver.crt", "apiserver.key"),
			volume(webhookVolume, "tls.crt", "tls.key"),
		}, []corev1.VolumeMount{
			{Name: apiServiceVolume, MountPath: apiServiceDir},
			{Name: webhookVolume, MountPath: webhookDir},
		}
}
