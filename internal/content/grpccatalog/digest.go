package grpccatalog

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var digestForm = regexp.MustCompile(`^[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}$`)

// Digest is the digest in the image ID of a container's status, which container runtimes write in several forms; empty is none.
func Digest(imageID string) string {
	if _, scheme, found := strings.Cut(imageID, "://"); found {
		imageID = scheme
	}
	if at := strings.LastIndexByte(imageID, '@'); at >= 0 {
		imageID = imageID[at+1:]
	}
	if !digestForm.MatchString(imageID) {
		return ""
	}
	return imageID
}

// RunningDigest is the digest of the catalog's image that the pod runs, or whose content it took; empty is not known yet.
func RunningDigest(p *corev1.Pod) string {
	statuses, name := p.Status.ContainerStatuses, imageContainer
	if len(p.Spec.InitContainers) > 0 && named(p.Spec.InitContainers, extractContent) != nil {
		statuses, name = p.Status.InitContainerStatuses, extractContent
	}
	for i := range statuses {
		if statuses[i].Name == name {
			return Digest(statuses[i].ImageID)
		}
	}
	return ""
}

// runs tells whether the pod is known to run what the registry calls by a digest.
func runs(p *corev1.Pod, digest string) bool {
	return digest != "" && (RunningDigest(p) == digest || p.Annotations[RegistryDigestAnnotation] == digest)
}

// differ tells whether two pods run different images. Where one of the digests is not known, nothing says so.
func differ(a, b *corev1.Pod) bool {
	x, y := RunningDigest(a), RunningDigest(b)
	return x != "" && y != "" && x != y
}

func named(containers []corev1.Container, name string) *corev1.Container {
	for i := range containers {
		if containers[i].Name == name {
			return &containers[i]
		}
	}
	return nil
}
