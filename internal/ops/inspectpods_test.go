package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// podLists counts the lists of pods, and answers them with an error if there is one.
func podLists(c client.WithWatch, failed error) (counted client.WithWatch, lists *int) {
	lists = new(int)
	return interceptor.NewClient(c, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if _, pods := list.(*corev1.PodList); pods {
			if *lists++; failed != nil {
				return failed
			}
		}
		return c.List(ctx, list, options...)
	}}), lists
}

func endsWith(text string) Logs {
	return func(context.Context, client.ObjectKey, string, bool) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

func status(t *testing.T, c client.Reader, logs Logs, names ...string) (Report, string) {
	t.Helper()
	report := must.Value(must.Value(InspectNamespace(t.Context(), c, "ops"))(t).Only(names))(t)
	must.NoError(t, report.ReadPods(t.Context(), c, logs))
	var text strings.Builder
	must.NoError(t, report.Write(&text))
	return report, text.String()
}

// TestStatusShowsPods: of a Deployment that is not available, with the last line of the log, without credentials.
func TestStatusShowsPods(t *testing.T) {
	c, lists := podLists(removalCluster(t, failingOperator(t)...), nil)
	report, text := status(t, c, endsWith("starting\npanic: cannot open database, token=abcdefgh123\n"), "my-kite")
	must.Contain(t, "status", text, `
        └── ✗ Deployment kite 0/1 available
            │   Deployment does not have minimum availability.
            └── ✗ Pod kite-7d-abc (restarted 7 times) CrashLoopBackOff
                    container manager waits: CrashLoopBackOff: back-off 5m0s restarting failed container; its last run ended with exit code 2
                    last log line: panic: cannot open database, token=(redacted)
`)
	must.Equal(t, "last line for programs", report.Objects[0].Children[0].Children[0].Children[0].LastLog, "panic: cannot open database, token=(redacted)")
	must.Equal(t, "notes", report.Notes, nil)
	must.Equal(t, "lists of pods", *lists, 1)
}

// TestStatusOfWhatWorksReadsNoPods, nor does that of what was not named.
func TestStatusOfWhatWorksReadsNoPods(t *testing.T) {
	objects := failingOperator(t)
	c, lists := podLists(removalCluster(t, objects...), nil)
	status(t, c, endsWith("x"), "group")
	must.Equal(t, "lists for another name", *lists, 0)
	for _, o := range objects {
		if d, is := o.(*appsv1.Deployment); is {
			d.Status.AvailableReplicas = 1
		}
	}
	c, lists = podLists(removalCluster(t, objects...), nil)
	_, text := status(t, c, endsWith("x"))
	must.Equal(t, "lists of what works", *lists, 0)
	must.Contain(t, "status", text, "✓ Deployment kite 1/1 available")
}

// TestStatusOfUserWithoutPods: what the user may not read becomes a note, and so does a log that cannot be read.
func TestStatusOfUserWithoutPods(t *testing.T) {
	forbidden := func(verb, resource string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", fmt.Errorf("User %q cannot %s resource %q", "dev", verb, resource))
	}
	c, _ := podLists(removalCluster(t, failingOperator(t)...), forbidden("list", "pods"))
	report, text := status(t, c, endsWith("x"))
	must.Equal(t, "without pods", report.Notes, []string{"pods of namespace ops cannot be listed as user dev: why a Deployment does not become available is not shown"})
	must.Contain(t, "status", text, "✗ Deployment kite 0/1 available", "note: pods of namespace ops cannot be listed")

	for _, test := range []struct {
		failed error
		note   string
	}{
		{forbidden("get", "pods/log"), "logs of pods of namespace ops cannot be read as user dev: their last lines are not shown"},
		{errors.New("the kubelet does not answer"), "the log of container manager of pod kite-7d-abc cannot be read: the kubelet does not answer"},
	} {
		logs := func(context.Context, client.ObjectKey, string, bool) (io.ReadCloser, error) { return nil, test.failed }
		report, text = status(t, removalCluster(t, failingOperator(t)...), logs)
		must.Equal(t, "without logs", report.Notes, []string{test.note})
		must.Contain(t, "status", text, "✗ Pod kite-7d-abc (restarted 7 times) CrashLoopBackOff")
	}

	c, _ = podLists(removalCluster(t, failingOperator(t)...), errors.New("connection lost"))
	report = must.Value(InspectNamespace(t.Context(), c, "ops"))(t)
	must.Fail(t, "a failure that is none of rights", report.ReadPods(t.Context(), c, nil), "list the pods of namespace ops: connection lost")
}

// TestStatusBoundsPods: a few of a Deployment, those that do not work before the others, and those of some Deployments.
func TestStatusBoundsPods(t *testing.T) {
	objects := failingOperator(t)
	for i := range 4 {
		pod := crashing()
		pod.Name = fmt.Sprintf("kite-6-%d", i)
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}}}
		objects = append(objects, pod)
	}
	report, _ := status(t, removalCluster(t, objects...), nil, "kite")
	var shown []string
	for _, pod := range report.Objects[0].Children[0].Children[0].Children {
		shown = append(shown, pod.Name)
	}
	must.Equal(t, "pods", shown, []string{"kite-7d-abc", "kite-6-0", "kite-6-1"})
	must.Equal(t, "notes", report.Notes, []string{"2 of the pods of Deployment kite are not shown: kubectl get pods -n ops lists them"})

	kite := objects[slices.IndexFunc(objects, func(o client.Object) bool { _, is := o.(*appsv1.Deployment); return is && o.GetName() == "kite" })].(*appsv1.Deployment)
	for i := range maxFaulty + 2 {
		more := kite.DeepCopy()
		more.Name, more.UID = fmt.Sprintf("kite-%d", i), ""
		objects = append(objects, more)
	}
	c, lists := podLists(removalCluster(t, objects...), nil)
	survey := must.Value(InspectAll(t.Context(), c))(t)
	must.NoError(t, survey.ReadPods(t.Context(), c, nil))
	must.Equal(t, "lists", *lists, maxFaulty)
	must.Contain(t, "notes", strings.Join(survey.Notes, "\n"), "the pods of 3 more Deployments that are not available are not shown: fairlead status NAME shows those of one operator")
}
