package grpccatalog

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/fairlead/test/must"
)

var epoch = time.Unix(1_700_000_000, 0)

func TestDigest(t *testing.T) {
	const sum = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	for imageID, want := range map[string]string{
		"registry.example.com:5000/a/b@" + sum:        sum,
		"docker-pullable://registry.example/b@" + sum: sum,
		"docker://" + sum:                             sum,
		sum:                                           sum,
		"":                                            "",
		"registry.example.com/a/b:v1":                 "",
		"registry.example.com/a/b@sha256:":            "",
		"abc@":                                        "",
	} {
		must.Equal(t, imageID, Digest(imageID), want)
	}
}

func TestRunningDigest(t *testing.T) {
	const image, opm = "a@sha256:1111111111111111111111111111111111111111111111111111111111111111", "a@sha256:2222222222222222222222222222222222222222222222222222222222222222"
	p := wantedPod(t)
	must.Equal(t, "a pod without status runs", RunningDigest(p), "")
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar", ImageID: opm}, {Name: "registry-server", ImageID: image}}
	must.Equal(t, "it runs", RunningDigest(p), Digest(image))
	p.Spec.InitContainers = []corev1.Container{{Name: "injected"}, {Name: "extract-utilities"}, {Name: "extract-content"}}
	p.Status.ContainerStatuses[1].ImageID = opm
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "extract-utilities", ImageID: opm}, {Name: "extract-content", ImageID: image}}
	must.Equal(t, "with content that was taken out of the image: it runs", RunningDigest(p), Digest(image))
}

func TestGoMemory(t *testing.T) {
	for quantity, want := range map[string]string{
		"100Mi": "100MiB", "1024Mi": "1GiB", "1": "1B", "1Ki": "1KiB", "100M": "100000000B", "1Pi": "1024TiB", "1500m": "2B", "1.5Gi": "1536MiB",
	} {
		q := resource.MustParse(quantity)
		must.Equal(t, quantity, goMemory(q.Value()), want)
	}
}
