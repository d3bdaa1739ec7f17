package grpccatalog

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

const (
	// RegistryDigestAnnotation, on a pod, is the digest that the registry last named for the image that the pod was shown to run.
	// Container runtimes report other digests of an image as well; without this, each poll would have to run it to compare.
	RegistryDigestAnnotation = "operators.fairlead.dev/registry-digest"

	imageContainer = "registry-server"
)

// lastApplied is what kubectl leaves on objects: on the pod it would describe something else.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// pod is the wanted pod, without a name.
func pod(source *v1alpha1.CatalogSource, settings Settings, observed Observed) (*corev1.Pod, error) {
	server := corev1.Container{Name: imageContainer, Image: source.Spec.Image}
	server.Ports = []corev1.ContainerPort{{Name: portName, ContainerPort: Port}}
	server.ReadinessProbe = probe(corev1.Probe{InitialDelaySeconds: 5})
	server.LivenessProbe = probe(corev1.Probe{InitialDelaySeconds: 10})
	server.StartupProbe = probe(corev1.Probe{PeriodSeconds: 10, FailureThreshold: 15})
	server.Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("50Mi"),
	}
	server.SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: ptr.To(false)}
	server.ImagePullPolicy = pullPolicy(server.Image)
	server.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	p := &corev1.Pod{ObjectMeta: meta(source, "", selector(source)), Spec: corev1.PodSpec{
		Containers:         []corev1.Container{server},
		NodeSelector:       map[string]string{corev1.LabelOSStable: "linux"},
		ServiceAccountName: source.Name,
		ImagePullSecrets:   pullSecrets(source, observed.PullSecrets),
	}}
	p.GenerateName = source.Name + "-"
	// Annotations of the catalog, and that an eviction of the pod is safe: it is replaced.
	annotations := maps.Clone(source.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, lastApplied)
	delete(annotations, RegistryDigestAnnotation)
	annotations[v1alpha1.SafeToEvictAnnotation] = "true"
	if observed.RegistryDigest != "" {
		annotations[RegistryDigestAnnotation] = observed.RegistryDigest
	}
	p.Annotations = annotations
	if err := configure(p, source, settings); err != nil {
		return nil, failed(source, err)
	}
	// The security profile that the catalog asks for, else the one that the namespace admits.
	profile := v1alpha1.Legacy
	if observed.NamespaceLabels[v1alpha1.PodSecurityEnforceLabel] == restrictedLevel {
		profile = v1alpha1.Restricted
	}
	if config := source.Spec.GrpcPodConfig; config != nil {
		profile = cmp.Or(config.SecurityContextConfig, profile)
	}
	if profile == v1alpha1.Restricted { // give up the rights that this Pod Security Standard does not allow
		p.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		if user := settings.RunAsUser; user > 0 {
			p.Spec.SecurityContext.RunAsUser, p.Spec.SecurityContext.RunAsNonRoot = ptr.To(user), ptr.To(true)
		}
		for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range containers {
				containers[i].SecurityContext.AllowPrivilegeEscalation = ptr.To(false)
				containers[i].SecurityContext.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
			}
		}
	}
	hash, err := bundle.Hash62(p.Spec)
	if err != nil {
		return nil, failed(source, err)
	}
	p.Labels[v1alpha1.PodSpecHashLabel] = hash
	return p, nil
}

// probe asks the server's own health service.
func probe(p corev1.Probe) *corev1.Probe {
	p.GRPC = &corev1.GRPCAction{Port: Port}
	p.TimeoutSeconds = 5
	return &p
}

// pullPolicy looks for a new image under a tag, and not under a digest.
func pullPolicy(image string) corev1.PullPolicy {
	if strings.Contains(image, "@") {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// pullSecrets are those of the catalog, and then those that only its service account has.
func pullSecrets(source *v1alpha1.CatalogSource, ofAccount []corev1.LocalObjectReference) []corev1.LocalObjectReference {
	var all []corev1.LocalObjectReference
	for _, name := range source.Spec.Secrets {
		all = addSecret(all, name)
	}
	for _, secret := range ofAccount {
		all = addSecret(all, secret.Name)
	}
	return all
}

func addSecret(all []corev1.LocalObjectReference, name string) []corev1.LocalObjectReference {
	secret := corev1.LocalObjectReference{Name: name}
	if name == "" || slices.Contains(all, secret) {
		return all
	}
	return append(all, secret)
}
