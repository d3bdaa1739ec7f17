package grpccatalog

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// restrictedLevel is the Pod Security Standard that refuses pods which claim more rights than they need.
const restrictedLevel = "restricted"

// profile is the security profile of the pod: the one that the catalog asks for, else the one that the namespace admits.
func profile(source *v1alpha1.CatalogSource, namespaceLabels map[string]string) v1alpha1.SecurityConfig {
	if config := source.Spec.GrpcPodConfig; config != nil && config.SecurityContextConfig != "" {
		return config.SecurityContextConfig
	}
	if namespaceLabels[v1alpha1.PodSecurityEnforceLabel] == restrictedLevel {
		return v1alpha1.Restricted
	}
	return v1alpha1.Legacy
}

// secure gives up the rights that the restricted Pod Security Standard does not allow.
func secure(p *corev1.Pod, profile v1alpha1.SecurityConfig, user int64) {
	if profile != v1alpha1.Restricted {
		return
	}
	p.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	if user > 0 {
		p.Spec.SecurityContext.RunAsUser, p.Spec.SecurityContext.RunAsNonRoot = ptr.To(user), ptr.To(true)
	}
	for _, containers := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range containers {
			containers[i].SecurityContext.AllowPrivilegeEscalation = ptr.To(false)
			containers[i].SecurityContext.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}
		}
	}
}
