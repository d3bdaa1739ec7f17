package grpccatalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// newFaulty is a fake API server on which a second passes with every write.
func newFaulty(t testing.TB, objects ...client.Object) *fakeapi.Server {
	t.Helper()
	f := fakeapi.New(epoch, fake.NewClientBuilder().WithScheme(testScheme(t)).WithReturnManagedFields().WithStatusSubresource(&corev1.Pod{}).
		WithObjects(append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}})...))
	f.OneAtATime = true
	f.Before = func(string) error {
		f.Clock.Step(time.Second)
		return nil
	}
	return f
}

// life is what a catalog goes through in a test: it comes up, its spec changes, and a poll brings a newer image.
func life(t *testing.T, f *fakeapi.Server) (interruptions int) {
	t.Helper()
	source := grpcSource()
	request := Request{Source: source}
	for step, change := range []func(){
		func() {},
		func() { source.Spec.Image = "registry.example.com/catalog:v2" },
		func() { request.PollDue, request.RegistryDigest = true, digestTwo },
	} {
		change()
		for round := 0; ; round++ {
			if round == 20 {
				t.Fatalf("step %d does not come to an end", step)
			}
			k := &Keeper{Client: f, Reader: f, FieldOwner: "fairlead-test", Settings: defaults().Settings} // a manager that was just started
			request.Now = f.Clock.Now()
			out, err := k.Ensure(t.Context(), request)
			f.Clock.Step(out.Again)
			if err != nil {
				if !errors.Is(err, fakeapi.ErrKilled) && !strings.Contains(err.Error(), fakeapi.ErrKilled.Error()) {
					t.Fatalf("step %d: %v", step, err)
				}
				interruptions++
			}
			if out.Polled && err == nil {
				request.PollDue = false // as the status would say from now on
			}
			// Make all pods run: those of an update the newer image.
			var pods corev1.PodList
			must.NoError(t, f.List(t.Context(), &pods))
			for i := range pods.Items {
				p := &pods.Items[i]
				if isReady(p) {
					continue
				}
				digest := digestOne
				if p.Labels[v1alpha1.CatalogSourceLabel] == "" {
					digest = digestTwo
				}
				p.Status.Phase = corev1.PodRunning
				ready(true)(p)
				runsImage(digest)(p)
				must.NoError(t, f.Inner.Status().Update(t.Context(), p))
			}
			if err == nil && len(out.Changes) == 0 && out.Waiting == "" && out.Again == 0 {
				break
			}
		}
	}
	return interruptions
}

// end is what is there in the end.
func end(t *testing.T, f *fakeapi.Server) string {
	t.Helper()
	var pods corev1.PodList
	var services corev1.ServiceList
	must.NoError(t, errors.Join(f.List(t.Context(), &pods), f.List(t.Context(), &services)))
	text := fmt.Sprintf("%d services;", len(services.Items))
	for _, p := range pods.Items {
		text += fmt.Sprintf(" pod of %s runs %s for %q;", p.Spec.Containers[0].Image, RunningDigest(&p), p.Labels[v1alpha1.CatalogSourceLabel])
	}
	return text
}

// TestInterruptedAtEveryWrite: whichever write fails, or is made and not answered, the next manager comes to the same end.
func TestInterruptedAtEveryWrite(t *testing.T) {
	calm := newFaulty(t)
	life(t, calm)
	want := "1 services; pod of registry.example.com/catalog:v2 runs " + digestTwo + ` for "operators";`
	if got := end(t, calm); got != want {
		t.Fatalf("undisturbed: %s, want %s", got, want)
	}
	if calm.Made() < 9 {
		t.Fatalf("only %d writes to interrupt", calm.Made())
	}
	for n := 1; n <= calm.Made(); n++ {
		for _, after := range []bool{false, true} {
			f := newFaulty(t)
			f.KillAt(n, after)
			if interruptions := life(t, f); interruptions != 1 {
				t.Errorf("write %d (after it: %t): interrupted %d times", n, after, interruptions)
			}
			if got := end(t, f); got != want {
				t.Errorf("write %d (after it: %t): %s, want %s", n, after, got, want)
			}
		}
	}
}

// TestTwoManagersAtOnce make one pod.
func TestTwoManagersAtOnce(t *testing.T) {
	for range 20 {
		f := newFaulty(t)
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				k := &Keeper{Client: f, Reader: f, FieldOwner: "fairlead-test", Settings: defaults().Settings}
				if _, err := k.Ensure(t.Context(), Request{Source: grpcSource()}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		var pods corev1.PodList
		must.NoError(t, f.List(t.Context(), &pods))
		if len(pods.Items) != 1 {
			t.Fatalf("%d pods", len(pods.Items))
		}
	}
}

// lagging is a reader that has not heard of any pod yet.
type lagging struct{ client.Reader }

func (l lagging) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// TestAReaderThatLagsBehind: the pod that was just made is not made again.
func TestAReaderThatLagsBehind(t *testing.T) {
	f := newFaulty(t)
	k := &Keeper{Client: f, Reader: lagging{f}, FieldOwner: "fairlead-test", Settings: defaults().Settings}
	var names []string
	for range 2 {
		out := must.Value(k.Ensure(t.Context(), Request{Source: grpcSource()}))(t)
		names = append(names, out.Serving.Name)
	}
	var pods corev1.PodList
	if err := f.List(t.Context(), &pods); err != nil || len(pods.Items) != 1 || names[0] != names[1] {
		t.Errorf("%v: %d pods, served by %v", err, len(pods.Items), names)
	}
}

// TestANameOfSomebodyElse: another pod has the name that this one would get.
func TestANameOfSomebodyElse(t *testing.T) {
	name := Decide(Situation{Wanted: wantedPod(t)}).Actions[0].Pod.Name
	f := newFaulty(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name, UID: "somebody"}})
	k := &Keeper{Client: f, Reader: f, FieldOwner: "fairlead-test", Settings: defaults().Settings}
	out, err := k.Ensure(t.Context(), Request{Source: grpcSource()})
	if err != nil || out.Serving.Name == name || !strings.HasPrefix(out.Serving.Name, "operators-") {
		t.Errorf("%v: served by %s", err, out.Serving.Name)
	}
}

// TestPodsOfOthersAreLeftAlone, whatever they are labelled as.
func TestPodsOfOthersAreLeftAlone(t *testing.T) {
	foreign := podAt(t, "foreign", 0, oldSpec)
	foreign.OwnerReferences = nil
	f := newFaulty(t, &foreign)
	k := &Keeper{Client: f, Reader: f, FieldOwner: "fairlead-test", Settings: defaults().Settings}
	if out, err := k.Ensure(t.Context(), Request{Source: grpcSource()}); err != nil || out.Ready || out.Serving.Name == "foreign" {
		t.Errorf("%v: served by %s", err, out.Serving.Name)
	}
	must.Value(k.Remove(t.Context(), grpcSource()))(t)
	var pods corev1.PodList
	if err := f.List(t.Context(), &pods); err != nil || len(pods.Items) != 1 || pods.Items[0].Name != "foreign" {
		t.Errorf("%v: %d pods are left", err, len(pods.Items))
	}
}
