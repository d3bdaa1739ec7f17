package bundle

import (
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

func (c ServingCert) secretName(deployment string) string {
	if c.Secret != "" {
		return c.Secret
	}
	return ServingSecretName(deployment)
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
// authority rolls them out anew. The account is named because the right to read the Secret is bound to it.
func mountCert(template *corev1.PodTemplateSpec, secret string, ca []byte) {
	pod := &template.Spec
	pod.ServiceAccountName = accountName(pod.ServiceAccountName)
	pod.Volumes = mergeByName(pod.Volumes, CertVolumes(secret), func(v corev1.Volume) string { return v.Name })
	eachContainer(template, func(c *corev1.Container) {
		for _, mount := range CertMounts() {
			c.VolumeMounts = addMount(c.VolumeMounts, mount)
		}
	})
	if len(ca) > 0 {
		template.Annotations = union(template.Annotations, map[string]string{v1alpha1.CAHashAnnotation: CAHash(ca)})
	}
}

// CertVolumes are the volumes that pods have the serving certificate in a Secret through, under the file names that the
// libraries for aggregated APIs and for webhooks look for.
func CertVolumes(secret string) []corev1.Volume {
	return []corev1.Volume{
		certVolume(apiServiceVolume, secret, "apiserver.crt", "apiserver.key"),
		certVolume(webhookVolume, secret, "tls.crt", "tls.key"),
	}
}

// CertMounts mount the CertVolumes into a container.
func CertMounts() []corev1.VolumeMount {
	return []corev1.VolumeMount{
		{Name: apiServiceVolume, MountPath: apiServiceDir},
		{Name: webhookVolume, MountPath: webhookDir},
	}
}

func certVolume(name, secret, certFile, keyFile string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: secret,
		Items: []corev1.KeyToPath{
			{Key: ServingCertKey, Path: certFile},
			{Key: ServingKeyKey, Path: keyFile},
		},
	}}}
}

// addMount mounts a certificate unless its author mounted it somewhere already. What is mounted at its place gives way.
func addMount(mounts []corev1.VolumeMount, mount corev1.VolumeMount) []corev1.VolumeMount {
	for i, have := range mounts {
		if have.Name == mount.Name {
			return mounts
		}
		if have.MountPath == mount.MountPath {
			mounts[i] = mount
			return mounts
		}
	}
	return append(mounts, mount)
}
