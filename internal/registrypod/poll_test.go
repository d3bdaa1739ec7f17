package registrypod

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var epoch = time.Unix(1_700_000_000, 0)

func polling(interval time.Duration, age time.Duration, lastPoll *time.Duration) *v1alpha1.CatalogSource {
	source := grpcSource()
	source.CreationTimestamp = metav1.NewTime(epoch.Add(-age))
	source.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: interval}}}
	if lastPoll != nil {
		source.Status.LatestImageRegistryPoll = &metav1.Time{Time: epoch.Add(-*lastPoll)}
	}
	return source
}

func TestNextLookAndDue(t *testing.T) {
	ago := func(d time.Duration) *time.Duration { return &d }
	for name, test := range map[string]struct {
		source *v1alpha1.CatalogSource
		wait   time.Duration
		due    bool
	}{
		"10 minutes":                                {polling(10*time.Minute, 0, nil), 10 * time.Minute, false},
		"15 minutes":                                {polling(15*time.Minute, 0, nil), 15 * time.Minute, false},
		"10 minutes, polled 9 minutes ago":          {polling(10*time.Minute, time.Hour, ago(9*time.Minute)), 10 * time.Minute, false},
		"10 minutes, polled 11 minutes ago":         {polling(10*time.Minute, time.Hour, ago(11*time.Minute)), 10 * time.Minute, true},
		"15 minutes, polled 5 minutes ago":          {polling(15*time.Minute, time.Hour, ago(5*time.Minute)), 15 * time.Minute, false},
		"40 minutes, never polled, new":             {polling(40*time.Minute, 0, nil), 15 * time.Minute, false},
		"40 minutes, never polled, 30 minutes old":  {polling(40*time.Minute, 30*time.Minute, nil), 10 * time.Minute, false},
		"40 minutes, polled 30 minutes ago":         {polling(40*time.Minute, time.Hour, ago(30*time.Minute)), 10 * time.Minute, false},
		"40 minutes, polled 40 minutes ago":         {polling(40*time.Minute, time.Hour, ago(40*time.Minute)), time.Second, false},
		"40 minutes, overdue":                       {polling(40*time.Minute, 2*time.Hour, ago(time.Hour)), time.Second, true},
		"10 hours, new":                             {polling(10*time.Hour, 0, nil), 15 * time.Minute, false},
		"10 hours, until the last quarter hour":     {polling(10*time.Hour, 9*time.Hour+44*time.Minute, nil), 15 * time.Minute, false},
		"10 hours, in the last quarter hour":        {polling(10*time.Hour, 9*time.Hour+50*time.Minute, nil), 10 * time.Minute, false},
		"a negative interval is no hot loop":        {polling(-time.Minute, 0, ago(0)), time.Second, false},
		"the clock went back: not due, and bounded": {polling(40*time.Minute, 0, ago(-10*time.Hour)), 15 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, polls := NextLook(test.source, epoch)
			if !polls || wait != test.wait {
				t.Errorf("looked at again after %s (%t), want %s", wait, polls, test.wait)
			}
			if got := Due(test.source, epoch); got != test.due {
				t.Errorf("due is %t, want %t", got, test.due)
			}
		})
	}
}

func TestNoPolling(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.CatalogSourceSpec){
		"no strategy": func(s *v1alpha1.CatalogSourceSpec) { s.UpdateStrategy = nil },
		"no poll":     func(s *v1alpha1.CatalogSourceSpec) { s.UpdateStrategy.RegistryPoll = nil },
		"no interval": func(s *v1alpha1.CatalogSourceSpec) { s.UpdateStrategy.RegistryPoll.Interval = nil },
		"no image":    func(s *v1alpha1.CatalogSourceSpec) { s.Image, s.Address = "", "host:1" },
		"a ConfigMap": func(s *v1alpha1.CatalogSourceSpec) { s.SourceType = v1alpha1.SourceTypeConfigmap },
	} {
		source := polling(time.Minute, time.Hour, nil)
		change(&source.Spec)
		if _, polls := NextLook(source, epoch); polls || Due(source, epoch) {
			t.Errorf("%s: polls", name)
		}
	}
}

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
		if got := Digest(imageID); got != want {
			t.Errorf("the digest in %q is %q, want %q", imageID, got, want)
		}
	}
}

func TestRunningDigest(t *testing.T) {
	const image, opm = "a@sha256:1111111111111111111111111111111111111111111111111111111111111111", "a@sha256:2222222222222222222222222222222222222222222222222222222222222222"
	p := wantedPod(t)
	if got := RunningDigest(p); got != "" {
		t.Errorf("a pod without status runs %q", got)
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar", ImageID: opm}, {Name: "registry-server", ImageID: image}}
	if got := RunningDigest(p); got != Digest(image) {
		t.Errorf("it runs %q", got)
	}
	p.Spec.InitContainers = []corev1.Container{{Name: "injected"}, {Name: "extract-utilities"}, {Name: "extract-content"}}
	p.Status.ContainerStatuses[1].ImageID = opm
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "extract-utilities", ImageID: opm}, {Name: "extract-content", ImageID: image}}
	if got := RunningDigest(p); got != Digest(image) {
		t.Errorf("with content that was taken out of the image: it runs %q", got)
	}
}

func TestGoMemory(t *testing.T) {
	for quantity, want := range map[string]string{
		"100Mi": "100MiB", "1024Mi": "1GiB", "1": "1B", "1Ki": "1KiB", "100M": "100000000B", "1Pi": "1024TiB", "1500m": "2B", "1.5Gi": "1536MiB",
	} {
		q := resource.MustParse(quantity)
		if got := goMemory(q.Value()); got != want {
			t.Errorf("%s is %s, want %s", quantity, got, want)
		}
	}
}
