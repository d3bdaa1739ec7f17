package rollout

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// TestPodsCause is the table of the ways in which a pod does not come to run, as the kubelet reports them, and what is said of each.
func TestPodsCause(t *testing.T) {
	const spec = `{containers: [{name: c, image: reg/op:v1, ports: [{name: probes, containerPort: 8081}], resources: {limits: {memory: 64Mi}},
		readinessProbe: {httpGet: {path: /readyz, port: probes}}, livenessProbe: {tcpSocket: {port: 9443}}, startupProbe: {exec: {command: [/bin/up, "--all"]}}}]}`
	const down = `{lastState: {terminated: {exitCode: 137, reason: Error}}, name: c, state: {waiting: {reason: CrashLoopBackOff}}}`
	container := func(fields string) string {
		return `{containerStatuses: [{name: c, image: reg/op:v1, ` + fields + `}]}`
	}
	ends := func(run string) string {
		return container(`state: {waiting: {reason: CrashLoopBackOff, message: back-off 5m0s restarting}}, lastState: {terminated: {` + run + `}}`)
	}
	for name, test := range map[string]struct {
		status string
		events []corev1.Event
		want   string
	}{
		"runs":        {status: container(`ready: true, state: {running: {}}`)},
		"just made":   {status: `{phase: Pending}`},
		"ready again": {status: container(`ready: true, lastState: {terminated: {exitCode: 2}}`)},
		"no node": {status: `{conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available: 3 Insufficient cpu."}]}`,
			want: "pod p cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu."},
		"evicted": {status: `{phase: Failed, reason: Evicted, message: "The node was low on resource: memory."}`, want: "pod p failed: Evicted: The node was low on resource: memory."},
		"image, while it tries": {status: container(`state: {waiting: {reason: ErrImagePull, message: "failed to pull and unpack image: not found"}}`),
			want: "container c of pod p: image reg/op:v1 cannot be pulled: failed to pull and unpack image: not found"},
		"image, while it waits": {status: container(`state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "reg/op:v1": ErrImagePull: failed to pull and unpack image: not found'}}`),
			want: "container c of pod p: image reg/op:v1 cannot be pulled: failed to pull and unpack image: not found"},
		"image, of an earlier kubelet": {status: container(`state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "reg/op:v1"'}}`),
			want: "container c of pod p: image reg/op:v1 cannot be pulled"},
		"no Secret for a variable": {status: `{initContainerStatuses: [{name: i, state: {waiting: {reason: CreateContainerConfigError, message: 'secret "s" not found'}}}]}`,
			want: `container i of pod p: CreateContainerConfigError: secret "s" not found`},
		"no Secret for a volume": {status: container(`state: {waiting: {reason: ContainerCreating}}`), events: complaining("FailedMount", `MountVolume.SetUp failed for volume "v" : secret "s" not found`),
			want: `pod p cannot start: FailedMount: MountVolume.SetUp failed for volume "v" : secret "s" not found`},
		"volumes, without events": {status: container(`state: {waiting: {reason: ContainerCreating}}`)},
		"no such program": {status: ends(`exitCode: 128, reason: StartError, message: 'exec: "/nope": no such file or directory'`),
			want: `container c of pod p cannot start: StartError: exec: "/nope": no such file or directory`},
		"no such program, while it is tried": {status: container(`state: {waiting: {reason: RunContainerError, message: 'exec: "/nope": no such file or directory'}}`),
			want: `container c of pod p cannot start: RunContainerError: exec: "/nope": no such file or directory`},
		"exit code": {status: ends(`exitCode: 3, reason: Error`), want: "container c of pod p keeps exiting with code 3 (Error)"},
		"panic": {status: ends(`exitCode: 2, reason: Error, message: "goroutine 1\nmain.go:3\npanic: token=abcdefgh"`),
			want: "container c of pod p keeps exiting with code 2 (Error): panic: token=(redacted)"},
		"ends at once, with success": {status: ends(`exitCode: 0, reason: Completed`), want: "container c of pod p keeps exiting with code 0 (Completed)"},
		"between two runs":           {status: container(`state: {terminated: {exitCode: 3, reason: Error}}`), want: "container c of pod p keeps exiting with code 3 (Error)"},
		"running again":              {status: container(`started: true, state: {running: {}}, lastState: {terminated: {exitCode: 3}}`), want: "container c of pod p keeps exiting with code 3 (Error)"},
		"memory":                     {status: ends(`exitCode: 137, reason: OOMKilled`), want: "container c of pod p is ended again and again for its memory (OOMKilled): its limit is 64Mi"},
		"readiness, without events": {status: container(`started: true, state: {running: {}}`),
			want: "container c of pod p runs and is not ready: its readiness probe (GET http://:8081/readyz) does not succeed"},
		"readiness": {status: container(`started: true, state: {running: {}}`), events: complaining("Unhealthy", "Startup probe failed: connection refused", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
			want: "container c of pod p runs and is not ready: its readiness probe (GET http://:8081/readyz) does not succeed: HTTP probe failed with statuscode: 503"},
		"startup": {status: container(`started: false, state: {running: {}}`), want: "container c of pod p runs and has not started yet: its startup probe (command /bin/up --all) does not succeed"},
		"liveness": {status: `{containerStatuses: [` + down + `]}`, events: complaining("Unhealthy", "Liveness probe failed: dial tcp 10.0.0.1:9443: connect: connection refused"),
			want: "container c of pod p is ended again and again: its liveness probe (connect to port 9443) does not succeed: dial tcp 10.0.0.1:9443: connect: connection refused"},
		"startup, before the next run": {status: `{containerStatuses: [` + down + `]}`, events: complaining("Unhealthy", "Startup probe failed: exit status 1"),
			want: "container c of pod p is ended again and again: its startup probe (command /bin/up --all) does not succeed: exit status 1"},
		"liveness, of a program that ends in order": {status: ends(`exitCode: 0, reason: Completed`),
			events: append(complaining("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 503"), complaining("Killing", "Container c failed liveness probe, will be restarted")...),
			want:   "container c of pod p is ended again and again: its liveness probe (connect to port 9443) does not succeed: HTTP probe failed with statuscode: 503"},
		"liveness, of a program that ends with an error": {status: ends(`exitCode: 2, reason: Error, startedAt: "2030-01-02T03:04:05Z", finishedAt: "2030-01-02T03:04:09Z"`),
			events: append(complaining("Unhealthy", "Liveness probe failed: timeout"), killed("2030-01-02T03:04:08Z", "Container c failed liveness probe, will be restarted")),
			want:   "container c of pod p is ended again and again: its liveness probe (connect to port 9443) does not succeed: timeout"},
		"liveness of an earlier run": {status: ends(`exitCode: 2, reason: Error, startedAt: "2030-01-02T03:04:05Z", finishedAt: "2030-01-02T03:04:09Z"`),
			events: append(complaining("Unhealthy", "Liveness probe failed: timeout"), killed("2030-01-02T03:04:02Z", "Container c failed liveness probe, will be restarted")),
			want:   "container c of pod p keeps exiting with code 2 (Error)"},
		"liveness of another container": {status: ends(`exitCode: 0, reason: Completed`), events: complaining("Killing", "Container proxy failed liveness probe, will be restarted"),
			want: "container c of pod p keeps exiting with code 0 (Completed)"},
		"startup, of a program that ends in order": {status: ends(`exitCode: 0, reason: Completed`), events: complaining("Killing", "Container c failed startup probe, will be restarted"),
			want: "container c of pod p is ended again and again: its startup probe (command /bin/up --all) does not succeed"},
		"panic, with where it was": {status: ends(`exitCode: 2, reason: Error, message: "starting\npanic: no settings\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:7 +0x18\n"`),
			want: "container c of pod p keeps exiting with code 2 (Error): panic: no settings"},
		"done with its preparations": {status: `{initContainerStatuses: [{name: i, state: {terminated: {exitCode: 0}}}], containerStatuses: [{name: c, state: {waiting: {reason: ErrImageNeverPull, message: absent}}}]}`,
			want: "container c of pod p: ErrImageNeverPull: absent"},
	} {
		t.Run(name, func(t *testing.T) {
			var pod corev1.Pod
			convert(t, object(t, `{metadata: {name: p}, spec: `+spec+`, status: `+test.status+`}`), &pod)
			events := func(*corev1.Pod) []corev1.Event { return test.events }
			must.Equal(t, "cause", podsCause([]corev1.Pod{pod}, events), test.want)
			healthy := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			must.Equal(t, "among others", podsCause([]corev1.Pod{healthy, pod}, events), test.want)
			pod.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			must.Equal(t, "of a pod that goes", podsCause([]corev1.Pod{pod}, events), "")
		})
	}
}

func complaining(reason string, messages ...string) (all []corev1.Event) {
	for _, m := range messages {
		all = append(all, corev1.Event{Reason: reason, Message: m})
	}
	return all
}

// killed is the event with which the kubelet ends a container.
func killed(at, message string) corev1.Event {
	moment, err := time.Parse(time.RFC3339, at)
	if err != nil {
		panic(err) // it is in a test
	}
	return corev1.Event{Type: corev1.EventTypeNormal, Reason: killing, Message: message, LastTimestamp: metav1.NewTime(moment)}
}

// TestCauseOfTheLatestTemplate: pods of an earlier template say nothing, a workload that has only just changed is not asked about, and where pods cannot be listed
// there is no cause.
func TestCauseOfTheLatestTemplate(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	labels := map[string]string{"app": "op"}
	live := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "op", UID: "u", Annotations: map[string]string{revisionAnnotation: "2"}},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
	c := newCluster(t)
	of := func(name, hash string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"app": "op", appsv1.DefaultDeploymentUniqueLabelKey: hash}}
	}
	yes := true
	for revision, hash := range map[string]string{"1": "old", "2": "new"} {
		set := &appsv1.ReplicaSet{ObjectMeta: of("op-"+hash, hash)}
		set.Annotations = map[string]string{revisionAnnotation: revision}
		set.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "op", UID: "u", Controller: &yes}}
		pod := &corev1.Pod{ObjectMeta: of(hash, hash)}
		pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}
		must.NoError(t, c.Create(t.Context(), set))
		must.NoError(t, c.Create(t.Context(), pod))
	}
	cause := func(reader client.Reader, live client.Object) string {
		said := ""
		Judge{Reader: reader, Clock: clocktesting.NewFakePassiveClock(now)}.judge(t.Context(), live, func(cause string) Health {
			said = cause
			return Health{State: Unready}
		})
		return said
	}
	must.Equal(t, "the pod of the new template", cause(c, live), "pod new failed: Evicted")
	must.Equal(t, "without ReplicaSets", cause(without[*appsv1.ReplicaSetList]{c}, live), "pod new failed: Evicted")
	must.Equal(t, "without pods", cause(without[*corev1.PodList]{c}, live), "")
	stateful := &appsv1.StatefulSet{ObjectMeta: live.ObjectMeta, Spec: appsv1.StatefulSetSpec{Selector: live.Spec.Selector}}
	must.Equal(t, "of a StatefulSet", cause(c, stateful), "pod new failed: Evicted")
	stateful.Status.UpdateRevision = "another"
	must.Equal(t, "of another template of a StatefulSet", cause(c, stateful), "")

	for what, change := range map[string]func(*appsv1.Deployment, metav1.Time){
		"created": func(d *appsv1.Deployment, at metav1.Time) { d.CreationTimestamp = at },
		"unavailable": func(d *appsv1.Deployment, at metav1.Time) {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, LastTransitionTime: at}}
		},
		"has a progress": func(d *appsv1.Deployment, at metav1.Time) {
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, LastUpdateTime: at}}
		},
	} {
		for age, want := range map[time.Duration]string{0: "", podsDelay - time.Second: "", podsDelay: "pod new failed: Evicted"} {
			d := live.DeepCopy()
			change(d, metav1.NewTime(now.Add(-age)))
			must.Equal(t, what+" for "+age.String(), cause(c, d), want)
		}
	}
	stuck := live.DeepCopy()
	stuck.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, LastUpdateTime: metav1.NewTime(now)}}
	must.Equal(t, "given up just now", cause(c, stuck), "pod new failed: Evicted")
}

// TestComplaints: of the events of a pod those come first that happened most often.
func TestComplaints(t *testing.T) {
	event := func(message string, count int32) corev1.Event { return corev1.Event{Message: message, Count: count} }
	series := event("b", 1)
	series.Series = &corev1.EventSeries{Count: 7}
	got := complaints(t.Context(), eventful{items: []corev1.Event{event("c", 3), {Type: corev1.EventTypeNormal, Reason: "Pulled", Count: 9}, event("a", 3), series, killed("2030-01-02T03:04:05Z", "k")}}, &corev1.Pod{})
	var order []string
	for _, e := range got {
		order = append(order, e.Message)
	}
	must.Equal(t, "order", order, []string{"b", "a", "c", "k"})
	must.Equal(t, "without the right", len(complaints(t.Context(), without[*corev1.EventList]{}, &corev1.Pod{})), 0)
}

type eventful struct {
	client.Reader
	items []corev1.Event
}

func (e eventful) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*corev1.EventList).Items = e.items
	return nil
}

// without is a cluster in which one kind cannot be listed.
type without[T client.ObjectList] struct{ client.Reader }

func (w without[T]) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(T); is {
		return errors.New("no")
	}
	return w.Reader.List(ctx, list, options...)
}
