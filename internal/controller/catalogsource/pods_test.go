package catalogsource

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withPods lets the Service of the catalog lead to a server, which stands for what runs in the pod.
func (w *world) withPods(s *server) {
	w.c.links.dial = func(address string, _ []byte) (remote, error) {
		if address != "cat.olm.svc:50051" {
			return nil, fmt.Errorf("nobody is at %s", address)
		}
		return grpccatalog.Dial(s.address, grpccatalog.Options{})
	}
}

func (w *world) pods() []corev1.Pod {
	w.t.Helper()
	var list corev1.PodList
	if err := w.client.List(w.t.Context(), &list, client.InNamespace(key.Namespace)); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// run does what a kubelet does: pods become ready, with the image of that digest.
func (w *world) run(digest string) {
	w.t.Helper()
	for _, p := range w.pods() {
		if len(p.Status.ContainerStatuses) > 0 {
			continue
		}
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, Ready: true, ImageID: "registry.example.com/cat@" + digest}}}
		if err := w.client.Status().Update(w.t.Context(), &p); err != nil {
			w.t.Fatal(err)
		}
	}
}

// settle reconciles until nothing is asked for soon.
func (w *world) settle(digest string) *v1alpha1.CatalogSource {
	w.t.Helper()
	for range 20 {
		result, s := w.reconcile()
		w.run(digest)
		if len(w.pods()) == 1 && readyReason(s) == "True Serving" && (result.RequeueAfter == 0 || result.RequeueAfter > time.Minute) {
			return s
		}
		w.Clock.Step(max(result.RequeueAfter, time.Second))
	}
	w.t.Fatalf("it does not come to rest: %+v, pods %d", w.source().Status, len(w.pods()))
	return nil
}

var (
	digestOne = "sha256:" + strings.Repeat("1", 64)
	digestTwo = "sha256:" + strings.Repeat("2", 64)
)

func TestAnImageWithoutCatalogIsRun(t *testing.T) {
	w := newWorld(t, source(grpc(time.Hour)))
	w.create(namespaceOf())
	pod := newServer(t, good)
	w.withPods(pod)
	served := w.serve()
	w.registry.noCatalog, w.registry.content = true, strings.Repeat("1", 64)
	if _, s := w.reconcile(); readyReason(s) != "False Loading" || s.Status.Reason != "" || len(w.pods()) != 0 {
		t.Errorf("before the pod: %+v", s.Status)
	}
	w.Clock.Step(time.Second)
	_, s := w.reconcile()
	if len(w.pods()) != 1 || readyReason(s) != "False Loading" || !strings.Contains(s.Status.Message, "the image holds no file-based catalog, so it is run as a registry server: pod ") || !strings.Contains(s.Status.Message, "is being started") {
		t.Errorf("with %d pods: %+v", len(w.pods()), s.Status)
	}
	s = w.settle(digestOne)
	if len(w.packages()) != 1 || s.Status.GRPCConnectionState.Address != "cat.olm.svc:50051" || s.Status.GRPCConnectionState.LastObservedState != "READY" {
		t.Errorf("packages %v, status %+v", w.packages(), s.Status)
	}
	if r := s.Status.RegistryServiceStatus; r == nil || r.ServiceName != "cat" || r.Port != "50051" {
		t.Errorf("registryService %+v", r)
	}
	if service, err := w.service("cat"); err != nil || service.Spec.Selector["olm.catalogSource"] != "cat" {
		t.Errorf("the Service leads to %+v, %v", service.Spec, err)
	}
	if _, ok := served.Catalog("cat.olm"); ok {
		t.Error("the manager answers in its place")
	}
	var policies networkingv1.NetworkPolicyList
	if err := w.client.List(t.Context(), &policies); err != nil || len(policies.Items) != 2 {
		t.Errorf("%d NetworkPolicies, %v", len(policies.Items), err)
	}
	// An unchanged poll writes when it took place and nothing else.
	first := s.Status.LatestImageRegistryPoll
	w.Taken()
	w.Clock.Step(2 * time.Hour)
	w.reconcile()
	if s = w.settle(digestOne); !slices.Equal(w.Writes(), []string{reported}) || !s.Status.LatestImageRegistryPoll.After(first.Time) {
		t.Errorf("an unchanged poll: writes %v, poll %v", w.Writes(), s.Status.LatestImageRegistryPoll)
	}
	// The tag moves: another pod takes the place of the first, and what it says is read, though its outline is the same.
	before := w.pods()[0].Name
	w.registry.content = strings.Repeat("2", 64)
	pod.publish(strings.ReplaceAll(good, "registry.example.com/a:v1", "registry.example.com/a:v2"))
	w.Clock.Step(2 * time.Hour)
	w.reconcile()
	w.settle(digestTwo)
	if w.pods()[0].Name == before {
		t.Error("the first pod goes on serving")
	}
	if b, ok := w.c.memory.known[ref].index.Bundle("a", "a.v1.0.0"); !ok || b.Image != "registry.example.com/a:v2" {
		t.Errorf("the bundle is %+v", b)
	}
}

func namespaceOf() *corev1.Namespace {
	n := &corev1.Namespace{}
	n.Name = key.Namespace
	return n
}

func TestPodsOnRequest(t *testing.T) {
	for name, test := range map[string]struct {
		always     bool
		annotation string
		noCatalog  bool
		want       bool
	}{
		"nobody asked":                        {false, "", false, false},
		"asked for this one":                  {false, "true", false, true},
		"asked for all":                       {true, "", false, true},
		"asked for all but this one":          {true, "false", false, false},
		"there is no other way":               {false, "", true, true},
		"there is no other way, asked or not": {false, "false", true, true},
	} {
		s := source(grpc(0))
		if test.annotation != "" {
			s.Annotations = map[string]string{PodAnnotation: test.annotation}
		}
		p := &pods{always: test.always}
		must.Equal(t, name, p.desired(s, content{noCatalog: test.noCatalog}), test.want)
		s.Spec = atAddress("x:1")
		if p.desired(s, content{}) {
			t.Errorf("%s: a pod for a server that somebody else runs", name)
		}
		s.Spec = inConfigMap("x")
		if p.desired(s, content{}) {
			t.Errorf("%s: a pod for a ConfigMap", name)
		}
	}
}

func TestAPodIsGivenUp(t *testing.T) {
	s := source(grpc(0))
	s.Annotations = map[string]string{PodAnnotation: "true"}
	w := newWorld(t, s, namespaceOf())
	w.withPods(newServer(t, good))
	served := w.serve()
	w.settle(digestOne)
	w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = nil })
	for range 5 {
		w.reconcile()
		w.Clock.Step(time.Minute)
	}
	_, s = w.reconcile()
	service, err := w.service("cat")
	if err != nil || len(service.Spec.Selector) > 0 || len(w.pods()) != 0 {
		t.Errorf("the Service selects %v, %v; %d pods", service.Spec.Selector, err, len(w.pods()))
	}
	if _, ok := served.Catalog("cat.olm"); !ok || readyReason(s) != "True Serving" {
		t.Errorf("the manager does not serve: %+v", s.Status)
	}
}

// TestARestartLeavesPodsAlone: until it is known again that the image can only be run, what runs stays.
func TestARestartLeavesPodsAlone(t *testing.T) {
	for name, dir := range map[string]string{"with the notes of the last run": t.TempDir(), "without": ""} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(grpc(0)), namespaceOf())
			w.withPods(newServer(t, good))
			dial := w.c.links.dial
			w.c.records = records{dir: dir, indexes: w.indexes}
			serving := w.serve()
			w.registry.noCatalog = true
			w.settle(digestOne)
			before := w.pods()[0].Name
			w.restarted()
			w.c.links.dial, w.c.services.Serving = dial, &Serving{GlobalNamespace: key.Namespace, Global: Place{Catalogs: serving}}
			w.Taken()
			w.settle(digestOne)
			if w.pods()[0].Name != before || w.Count(reported) != len(w.Writes()) || len(w.packages()) != 1 {
				t.Errorf("pod %s, then %s; writes %v; packages %v", before, w.pods()[0].Name, w.Writes(), w.packages())
			}
		})
	}
}

func TestAPodThatDoesNotStart(t *testing.T) {
	s := source(grpc(0))
	s.Annotations = map[string]string{PodAnnotation: "true"}
	w := newWorld(t, s, namespaceOf())
	w.withPods(newServer(t, good))
	w.reconcile()
	p := w.pods()[0]
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "pull access denied"}}}}}
	must.NoError(t, w.client.Status().Update(t.Context(), &p))
	if _, s = w.reconcile(); !strings.Contains(s.Status.Message, "pull access denied") || readyReason(s) != "False Loading" || s.Status.GRPCConnectionState.LastObservedState != "TRANSIENT_FAILURE" {
		t.Errorf("status %+v", s.Status)
	}
	w.Taken()
	w.reconcile()
	must.Empty(t, "writes of looking again", w.Writes())
}

// TestAWrongImageIsCorrected under the same tag: the manager serves it then, and the pod, ready or not, goes.
func TestAWrongImageIsCorrected(t *testing.T) {
	w := newWorld(t, source(grpc(time.Minute)), namespaceOf())
	w.registry.noCatalog = true
	for range 3 {
		w.reconcile()
		w.Clock.Step(2 * time.Minute)
	}
	if len(w.pods()) != 1 {
		t.Fatalf("%d pods", len(w.pods()))
	}
	w.registry.noCatalog = false
	for range 3 {
		w.reconcile()
		w.Clock.Step(2 * time.Minute)
	}
	must.Empty(t, "pods", w.pods())
	must.Equal(t, "ready reason", readyReason(w.source()), "True Serving")
}
