package grpccatalog

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	digestOne = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	digestTwo = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

func grpcSource() *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "operators", UID: "u-1"},
		Spec:       v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "registry.example.com/catalog:v1"},
	}
}

func wantedPod(t testing.TB) *corev1.Pod {
	t.Helper()
	objects := must.Value(Wanted(grpcSource(), defaults().Settings, Observed{}))(t)
	return objects.Pod
}

// change makes another pod of a pod that serves as wanted and is ready.
type change func(*corev1.Pod)

// podAt is a pod that was created some minutes after the epoch.
func podAt(t testing.TB, name string, minute int, changes ...change) corev1.Pod {
	p := wantedPod(t)
	p.Name, p.UID, p.Generation = name, types.UID("uid-"+name), 1
	p.CreationTimestamp = metav1.NewTime(epoch.Add(time.Duration(minute) * time.Minute))
	p.Status.Phase = corev1.PodRunning
	ready(true)(p)
	runsImage(digestOne)(p)
	for _, c := range changes {
		c(p)
	}
	return *p
}

func ready(is bool) change {
	return func(p *corev1.Pod) {
		status := corev1.ConditionFalse
		if is {
			status = corev1.ConditionTrue
		}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
	}
}

func runsImage(digest string) change {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "registry-server", ImageID: "registry.example.com/catalog@" + digest}}
	}
}

func asUpdate(p *corev1.Pod)  { p.Labels = UpdatePod(p).Labels }
func oldSpec(p *corev1.Pod)   { p.Labels[v1alpha1.PodSpecHashLabel] = "other" }
func failedPod(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
func leaving(p *corev1.Pod)   { p.DeletionTimestamp = &metav1.Time{Time: epoch} }
func noDigest(p *corev1.Pod)  { p.Status.ContainerStatuses = nil }
func evicted(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI", Message: "evicted"})
}

func wasPromoted(p *corev1.Pod) {
	p.Labels[v1alpha1.CatalogSourceUpdateLabel] = ""
}

func waits(reason, message string) change {
	return func(p *corev1.Pod) {
		ready(false)(p)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "registry-server", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
}

func otherImage(generation int64) change {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Image, p.Generation = "mirror.example.com/catalog:v1", generation
	}
}

func confirmed(digest string) change {
	return func(p *corev1.Pod) { p.Annotations[RegistryDigestAnnotation] = digest }
}

// story is a decision in short: what is done with which pods, and who serves.
func story(d Decision) string {
	var b strings.Builder
	for _, a := range d.Actions {
		name := a.Pod.Name
		if a.Verb == Create {
			name = "serving"
			if a.Pod.Labels[v1alpha1.CatalogSourceLabel] == "" {
				name = "update"
			}
		}
		fmt.Fprintf(&b, "%s %s", a.Verb, name)
		if a.Verb == Delete {
			fmt.Fprintf(&b, " within %ds", a.Grace)
		}
		b.WriteString("; ")
	}
	switch {
	case d.Serving == nil:
		b.WriteString("none serves")
	case d.Serving.UID == "":
		b.WriteString("a new one serves")
	default:
		fmt.Fprintf(&b, "%s serves", d.Serving.Name)
	}
	if d.Ready {
		b.WriteString(", ready")
	}
	if d.Polled {
		b.WriteString(", polled")
	}
	if d.Again > 0 {
		fmt.Fprintf(&b, ", again in %s", d.Again)
	}
	return b.String()
}

func TestDecide(t *testing.T) {
	pod := func(name string, minute int, changes ...change) corev1.Pod { return podAt(t, name, minute, changes...) }
	for name, test := range map[string]struct {
		pods    []corev1.Pod
		due     bool
		digest  string
		want    string
		waiting string // part of what is said
		problem string
	}{
		"no pod":        {want: "create serving; a new one serves", waiting: "is being started"},
		"as wanted":     {pods: []corev1.Pod{pod("a", 0)}, want: "a serves, ready"},
		"not ready":     {pods: []corev1.Pod{pod("a", 0, waits("ErrImagePull", "manifest unknown"))}, want: "a serves", waiting: "container registry-server waits (ErrImagePull: manifest unknown)"},
		"being deleted": {pods: []corev1.Pod{pod("a", 0, leaving)}, want: "create serving; a new one serves", waiting: "is being started"},
		"failed":        {pods: []corev1.Pod{pod("a", 0, failedPod)}, want: "delete a within 0s; create serving; a new one serves", waiting: "is being started"},
		"evicted":       {pods: []corev1.Pod{pod("a", 0, evicted)}, want: "delete a within 0s; create serving; a new one serves", waiting: "is being started"},
		"failed as soon as it was started": {
			pods: []corev1.Pod{pod("a", 9, failedPod), pod("b", 60, failedPod)}, want: "delete a within 0s; none serves, again in 10s", waiting: "pod b died as soon as it was started: it is Failed",
		},
		"of an earlier spec, while the successor dies as soon as it is started": {
			pods: []corev1.Pod{pod("a", 0, oldSpec), pod("b", 60, failedPod)}, want: "a serves, ready, again in 10s", waiting: "pod b died as soon as it was started",
		},
		"one is evicted": {pods: []corev1.Pod{pod("a", 0, evicted), pod("b", 1)}, want: "delete a within 0s; b serves, ready"},
		"two that serve, the newest one that answers stays": {
			pods: []corev1.Pod{pod("a", 0), pod("b", 1), pod("c", 2, ready(false))},
			want: "delete c within 1s; delete a within 1s; b serves, ready",
		},
		"of an earlier spec, goes on serving": {
			pods: []corev1.Pod{pod("a", 0, oldSpec)}, want: "create serving; a serves, ready", waiting: "is being started",
		},
		"of an earlier spec, until the new one answers": {
			pods: []corev1.Pod{pod("a", 0, oldSpec), pod("b", 1, waits("CrashLoopBackOff", "back-off"))}, want: "a serves, ready",
			waiting: "pod b is not ready: container registry-server waits (CrashLoopBackOff: back-off)",
		},
		"of an earlier spec, the new one answers": {
			pods: []corev1.Pod{pod("a", 0, oldSpec), pod("b", 1)}, want: "delete a within 1s; b serves, ready",
		},
		"of two earlier specs, only the newest that answers stays": {
			pods:    []corev1.Pod{pod("a", 0, oldSpec), pod("b", 1, oldSpec), pod("c", 2, oldSpec, ready(false)), pod("d", 3, ready(false))},
			want:    "delete c within 1s; delete a within 1s; b serves, ready",
			waiting: "pod d is not ready",
		},
		"of an earlier spec, and does not answer": {
			pods: []corev1.Pod{pod("a", 0, oldSpec, ready(false))}, want: "delete a within 1s; create serving; a new one serves", waiting: "is being started",
		},
		"another image was put into it": {
			pods: []corev1.Pod{pod("a", 0, otherImage(2))}, want: "create serving; a serves, ready", waiting: "is being started",
		},
		"an API server that does not count changes": {
			pods: []corev1.Pod{pod("a", 0, otherImage(0))}, want: "create serving; a serves, ready", waiting: "is being started",
		},
		"an admission webhook rewrote the image": {pods: []corev1.Pod{pod("a", 0, otherImage(1))}, want: "a serves, ready"},

		"poll: nothing known":           {pods: []corev1.Pod{pod("a", 0)}, due: true, want: "create update; a serves, ready, polled, again in 30s"},
		"poll: the registry has news":   {pods: []corev1.Pod{pod("a", 0)}, due: true, digest: digestTwo, want: "create update; a serves, ready, polled, again in 30s"},
		"poll: the same digest":         {pods: []corev1.Pod{pod("a", 0)}, due: true, digest: digestOne, want: "a serves, ready, polled"},
		"poll: found to be the same":    {pods: []corev1.Pod{pod("a", 0, confirmed(digestTwo))}, due: true, digest: digestTwo, want: "a serves, ready, polled"},
		"poll: there is no pod anyhow":  {due: true, want: "create serving; a new one serves, polled", waiting: "is being started"},
		"poll: an update is under way":  {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, ready(false))}, due: true, want: "a serves, ready, again in 30s", waiting: "pod u, started for an update, is not ready"},
		"poll: the pod does not answer": {pods: []corev1.Pod{pod("a", 0, ready(false))}, due: true, want: "create update; a serves, polled, again in 30s", waiting: "pod a is not ready"},

		"update: not ready": {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, waits("ImagePullBackOff", "unauthorized"))}, want: "a serves, ready, again in 30s", waiting: "ImagePullBackOff: unauthorized"},
		"update: newer":     {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, runsImage(digestTwo))}, want: "promote u; u serves, ready, again in 5s"},
		"update: the same":  {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate)}, want: "delete u within 1s; a serves, ready"},
		"update: the same, by a digest of another kind": {
			pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, confirmed(digestTwo))}, want: "annotate a; delete u within 1s; a serves, ready",
		},
		"update: digest not known":        {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, noDigest)}, want: "delete u within 1s; a serves, ready"},
		"update: digest serving unknown":  {pods: []corev1.Pod{pod("a", 0, noDigest), pod("u", 1, asUpdate)}, want: "delete u within 1s; a serves, ready"},
		"update: crash loop":              {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, waits("CrashLoopBackOff", "boom"))}, want: "delete u within 1s; a serves, ready", problem: "CrashLoopBackOff: boom"},
		"update: failed":                  {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, failedPod)}, want: "delete u within 0s; a serves, ready", problem: "pod u, started for an update, failed"},
		"update: evicted":                 {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, evicted)}, want: "delete u within 0s; a serves, ready", problem: "EvictionByEvictionAPI"},
		"update: its node is lost":        {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, func(p *corev1.Pod) { p.Status.Phase = corev1.PodUnknown })}, want: "delete u within 1s; a serves, ready", problem: "it is Unknown"},
		"update: of an earlier spec":      {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, oldSpec, runsImage(digestTwo))}, want: "delete u within 1s; a serves, ready"},
		"update: being deleted":           {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate, leaving, runsImage(digestTwo))}, want: "a serves, ready"},
		"update: two of them":             {pods: []corev1.Pod{pod("a", 0), pod("u", 1, asUpdate), pod("v", 2, asUpdate, runsImage(digestTwo))}, want: "delete u within 1s; promote v; v serves, ready, again in 5s"},
		"update: nothing else is there":   {pods: []corev1.Pod{pod("u", 1, asUpdate, ready(false))}, want: "promote u; u serves", waiting: "pod u is not ready"},
		"update: the other does not work": {pods: []corev1.Pod{pod("a", 0, ready(false)), pod("u", 1, asUpdate)}, want: "promote u; delete a within 1s; u serves, ready"},
		"update: interrupted after the promotion": {
			pods: []corev1.Pod{pod("a", 0), pod("u", 1, wasPromoted, runsImage(digestTwo))}, want: "delete a within 1s; u serves, ready",
		},
		"update: interrupted, both of the same second": {
			pods: []corev1.Pod{pod("a", 0), pod("u", 0, wasPromoted, runsImage(digestTwo))}, want: "delete a within 1s; u serves, ready",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := Situation{Wanted: wantedPod(t), Pods: test.pods, PollDue: test.due, RegistryDigest: test.digest, Now: epoch.Add(time.Hour)}
			d := Decide(s)
			must.Equal(t, "result", story(d), test.want)
			if !strings.Contains(d.Waiting, test.waiting) || (d.Waiting == "") != (test.waiting == "") {
				t.Errorf("it waits for %q, want %q", d.Waiting, test.waiting)
			}
			if !strings.Contains(d.Problem, test.problem) || (d.Problem == "") != (test.problem == "") {
				t.Errorf("the problem is %q, want %q", d.Problem, test.problem)
			}
		})
	}
}

// TestHandOver: a pod that answers continues to serve for a moment beside the one that replaces it. One that does not, and one whose image may not be accepted, goes at once.
func TestHandOver(t *testing.T) {
	now := epoch.Add(time.Hour)
	since := func(at time.Duration) change {
		return func(p *corev1.Pod) { condition(p, corev1.PodReady).LastTransitionTime = metav1.NewTime(now.Add(at)) }
	}
	promotedAt := func(text string) change {
		return func(p *corev1.Pod) {
			wasPromoted(p)
			p.Annotations = map[string]string{promotedAnnotation: text}
		}
	}
	ago := func(at time.Duration) string { return now.Add(at).Format(time.RFC3339) }
	otherSource := func(p *corev1.Pod) {
		oldSpec(p)
		p.Spec.Containers[0].Image = "registry.example.com/catalog@" + digestTwo
	}
	pod := func(name string, minute int, changes ...change) corev1.Pod { return podAt(t, name, minute, changes...) }
	for name, test := range map[string]struct {
		pods     []corev1.Pod
		verified bool
		want     string
	}{
		"promoted a moment ago":                 {pods: []corev1.Pod{pod("a", 0), pod("u", 1, promotedAt(ago(-2*time.Second)))}, want: "u serves, ready, again in 3s"},
		"promoted a while ago":                  {pods: []corev1.Pod{pod("a", 0), pod("u", 1, promotedAt(ago(-handOver)))}, want: "delete a within 1s; u serves, ready"},
		"promoted, the old one does not answer": {pods: []corev1.Pod{pod("a", 0, ready(false)), pod("u", 1, promotedAt(ago(0)))}, want: "delete a within 1s; u serves, ready"},
		"promoted, by a clock that is ahead":    {pods: []corev1.Pod{pod("a", 0), pod("u", 1, promotedAt(ago(time.Hour)))}, want: "delete a within 1s; u serves, ready"},
		"promoted, garbage":                     {pods: []corev1.Pod{pod("a", 0), pod("u", 1, promotedAt("x"))}, want: "delete a within 1s; u serves, ready"},
		"the spec changed, ready a moment ago":  {pods: []corev1.Pod{pod("a", 0, oldSpec), pod("b", 1, since(-time.Second))}, want: "b serves, ready, again in 4s"},
		"the spec changed, ready a while ago":   {pods: []corev1.Pod{pod("a", 0, oldSpec), pod("b", 1, since(-time.Minute))}, want: "delete a within 1s; b serves, ready"},
		"an image that may not be accepted":     {pods: []corev1.Pod{pod("a", 0, otherSource), pod("b", 1, since(-time.Second))}, verified: true, want: "delete a within 1s; b serves, ready"},
		"the same image, verified":              {pods: []corev1.Pod{pod("a", 0, oldSpec), pod("b", 1, since(-time.Second))}, verified: true, want: "b serves, ready, again in 4s"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "result", story(Decide(Situation{Wanted: wantedPod(t), Pods: test.pods, Verified: test.verified, Now: now})), test.want)
		})
	}
}

// TestOnlyTheVerifiedImageServes under a signature policy: a ready pod of another image is deleted, whether or not its successor is ready.
func TestOnlyTheVerifiedImageServes(t *testing.T) {
	pod := func(name string, minute int, changes ...change) corev1.Pod { return podAt(t, name, minute, changes...) }
	otherSource := func(p *corev1.Pod) {
		oldSpec(p)
		p.Spec.Containers[0].Image = "registry.example.com/catalog@" + digestTwo
	}
	for name, test := range map[string]struct {
		pods    []corev1.Pod
		want    string
		current bool
	}{
		"of another image":                         {[]corev1.Pod{pod("a", 0, otherSource)}, "delete a within 1s; create serving; a new one serves", true},
		"of another image, successor not ready":    {[]corev1.Pod{pod("a", 0, otherSource), pod("b", 1, ready(false))}, "delete a within 1s; b serves", true},
		"another image was put into it":            {[]corev1.Pod{pod("a", 0, otherImage(2))}, "delete a within 1s; create serving; a new one serves", true},
		"of another spec with the same image":      {[]corev1.Pod{pod("a", 0, oldSpec)}, "create serving; a serves, ready", false},
		"the same image, the successor dies young": {[]corev1.Pod{pod("a", 0, oldSpec), pod("b", 60, failedPod)}, "a serves, ready, again in 10s", false},
		"as desired": {[]corev1.Pod{pod("a", 0)}, "a serves, ready", true},
	} {
		t.Run(name, func(t *testing.T) {
			d := Decide(Situation{Wanted: wantedPod(t), Pods: test.pods, Verified: true, Now: epoch.Add(time.Hour)})
			if diff := cmp.Diff(test.want, story(d)); diff != "" || d.Current != test.current {
				t.Errorf("current %t; -want +got:\n%s", d.Current, diff)
			}
		})
	}
}

func TestAPinnedImageIsNotRunToBeCompared(t *testing.T) {
	source := grpcSource()
	source.Spec.Image = "registry.example.com/catalog@" + digestOne
	objects := must.Value(Wanted(source, defaults().Settings, Observed{}))(t)
	p := podAt(t, "a", 0, noDigest)
	p.Labels, p.Spec = objects.Pod.Labels, objects.Pod.Spec
	must.Equal(t, "story", story(Decide(Situation{Wanted: objects.Pod, Pods: []corev1.Pod{p}, PollDue: true})), "a serves, ready, polled")
}

// TestPodNames: the same situation gives the same name, so that a repeated create makes one pod; another one gives another.
func TestPodNames(t *testing.T) {
	name := func(pods ...corev1.Pod) string {
		return Decide(Situation{Wanted: wantedPod(t), Pods: pods, Now: epoch.Add(time.Hour)}).Actions[len(pods)].Pod.Name
	}
	first := name()
	if first != name() || !strings.HasPrefix(first, "operators-") || len(first) != len("operators-")+5 {
		t.Errorf("the name is %s, and then %s", first, name())
	}
	again := name(podAt(t, first, 0, failedPod))
	if again == first || again != name(podAt(t, first, 0, failedPod)) {
		t.Errorf("the successor of %s is %s", first, again)
	}
}

// TestWords: what the cluster says is cut, and made one line.
func TestWords(t *testing.T) {
	p := podAt(t, "a", 0, waits("CrashLoopBackOff", "back-off"))
	p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Message: "no such table\n\x1b[31m" + strings.Repeat("x", 1000)}
	got := words(&p)
	if !strings.Contains(got, "it ended with exit code 0 (: no such table") || strings.ContainsAny(got, "\n\x1b") || len(got) > maxWordsSize+3 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	pending := podAt(t, "a", 0, ready(false), noDigest)
	pending.Status.Phase = corev1.PodPending
	pending.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/2 nodes"}}
	must.Equal(t, "words", words(&pending), "no node was found for it (Unschedulable: 0/2 nodes)")
}
