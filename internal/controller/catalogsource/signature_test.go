package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// verifier accepts images by their digest. Its policy is the list of those that it refuses.
type verifier struct {
	registry *registry
	calls    atomic.Int32
	slow     chan struct{}                 // when set, a verification waits for it
	held     atomic.Pointer[chan struct{}] // the same for the next one alone

	mu      sync.Mutex
	refused []string
	expires time.Time
	down    error  // why nothing can be decided
	all     bool   // every digest is accepted, without the registry
	onCall  func() // after a decision
	// onPolicy is called after the policy was read.
	onPolicy func()
}

// set is another policy.
func (v *verifier) set(change func(*verifier)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(v)
}

func (v *verifier) Policy() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onPolicy != nil {
		defer v.onPolicy()
	}
	return fmt.Sprintf("refuses %v, accepts all %t", v.refused, v.all)
}

func (v *verifier) Verifies() bool { return true }

func (v *verifier) Verify(ctx context.Context, ref string, o image.VerifyOptions) (*image.Verification, error) {
	v.calls.Add(1)
	slow := v.slow
	if held := v.held.Swap(nil); held != nil {
		slow = *held
	}
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onCall != nil {
		defer v.onCall()
	}
	if v.all && o.Outright {
		return &image.Verification{Outcome: image.Accepted, Ref: ref}, nil
	}
	if o.Digest == "" {
		digest, err := v.registry.Digest(ctx, ref, o.Auth)
		if err != nil {
			return nil, err
		}
		o.Digest = digest
	}
	switch {
	case v.down != nil:
		return nil, v.down
	case v.all:
		return &image.Verification{Outcome: image.Accepted, Ref: ref, Digest: o.Digest}, nil
	}
	if slices.Contains(v.refused, o.Digest) {
		return nil, &image.Error{Kind: image.Unverified, Op: "verify", Ref: ref, Reason: o.Digest + " is refused", Advice: "sign it"}
	}
	return &image.Verification{Outcome: image.Signed, Ref: ref, Digest: o.Digest, Signers: []image.Signer{{Key: "sha256:k"}}, Expires: v.expires}, nil
}

// verifies gives the controller a signature policy.
func (w *world) verifies(v *verifier) *verifier {
	v.registry = w.registry
	w.c.verifier, w.c.pods.verifier, w.c.records.verifier = v, v, v
	w.c.images = images{reader: w.registry, secrets: w.Server, verifier: v}
	return v
}

// signature is the condition SignatureVerified in short.
func signature(s *v1alpha1.CatalogSource) string {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.CatalogSourceSignatureVerified)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

// images are those that pods run.
func (w *world) running() []string {
	w.t.Helper()
	var all []string
	for _, p := range w.pods() {
		all = append(all, p.Spec.Containers[0].Image)
	}
	return all
}

const repo = "registry.example.com/cat"

// inPod is a catalog that is served by a pod which runs digestOne, under a policy.
func inPod(t *testing.T, poll time.Duration) (*world, *verifier, *server) {
	t.Helper()
	s := source(grpc(poll))
	s.Annotations = map[string]string{PodAnnotation: "true"}
	w := newWorld(t, s, namespaceOf())
	server := newServer(t, good)
	w.withPods(server)
	w.registry.content = strings.Repeat("1", 64)
	v := w.verifies(&verifier{})
	s = w.settle(digestOne)
	if got := w.running(); !slices.Equal(got, []string{repo + "@" + digestOne}) || signature(s) != "True Signed" {
		t.Fatalf("it runs %v: %s", got, signature(s))
	}
	return w, v, server
}

// TestAnOutdatedPodIsNotServed while the status reports the signature of its successor.
func TestAnOutdatedPodIsNotServed(t *testing.T) {
	w, v, server := inPod(t, time.Hour)
	server.publish(strings.ReplaceAll(good, "a:v1", "a:v2"))
	w.registry.content = strings.Repeat("2", 64)
	v.set(func(v *verifier) { v.refused = []string{digestOne} })
	for range 3 {
		w.reconcile()
		w.Clock.Step(time.Second)
	}
	_, s := w.reconcile()
	if got := w.running(); !slices.Equal(got, []string{repo + "@" + digestTwo}) {
		t.Errorf("pods run %v", got)
	}
	if w.c.memory.known[ref].seenPod != "" || w.packages() != nil {
		t.Errorf("packages %v of a refused image are offered: %s, %+v", w.packages(), signature(s), s.Status)
	}
	if s = w.settle(digestTwo); signature(s) != "True Signed" {
		t.Errorf("signature %s", signature(s))
	}
	if b, ok := w.c.memory.known[ref].index.Bundle("a", "a.v1.0.0"); !ok || b.Image != "registry.example.com/a:v2" {
		t.Errorf("the bundle is %+v", b)
	}
}

// TestARefusedImageRunsNoMore: the pod of an image that the policy refuses is deleted; where nothing is decided it stays.
func TestARefusedImageRunsNoMore(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*verifier)
		pods   int
		want   string
	}{
		"refused":   {func(v *verifier) { v.refused = []string{digestOne} }, 0, "False Unverified"},
		"undecided": {func(v *verifier) { v.refused, v.down = []string{"other"}, errors.New("registry is down") }, 1, "Unknown Undecided"},
		"the policy cannot be read": {func(v *verifier) {
			v.refused, v.down = []string{"other"}, &image.Error{Kind: image.Unverified, Reason: "line 1", Err: image.ErrUnreadablePolicy}
		}, 1, "False Unverified"},
	} {
		t.Run(name, func(t *testing.T) {
			w, v, _ := inPod(t, 0)
			v.set(test.change)
			_, s := w.reconcile()
			if len(w.pods()) != test.pods || w.packages() != nil || signature(s) != test.want {
				t.Errorf("%d pods, packages %v, signature %s: %+v", len(w.pods()), w.packages(), signature(s), s.Status)
			}
			v.set(func(v *verifier) { v.refused, v.down = nil, nil })
			if s = w.settle(digestOne); signature(s) != "True Signed" {
				t.Errorf("accepted again: %s", signature(s))
			}
		})
	}
}

// loaded waits until nothing is read or verified any more.
func (w *world) loaded() {
	for _, l := range []*loads{&w.c.loads, &w.c.verifications} {
		l.mu.Lock()
		running := slices.Collect(maps.Values(l.running))
		l.mu.Unlock()
		for _, one := range running {
			<-one.done
		}
	}
}

// TestARefusedUpdateLeavesThePod of the digest that the policy accepts, also after a change of the policy, and after a lost connection.
func TestARefusedUpdateLeavesThePod(t *testing.T) {
	for _, lost := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("%d connections lost", lost), func(t *testing.T) { refusedUpdate(t, lost) })
	}
}

func refusedUpdate(t *testing.T, lost int) {
	w, v, _ := inPod(t, time.Hour)
	connection := w.c.links.open[ref]
	connection.mu.Lock()
	connection.now.session += lost
	connection.mu.Unlock()
	before := w.pods()[0].Name
	w.registry.content = strings.Repeat("2", 64)
	v.set(func(v *verifier) { v.refused = []string{digestTwo} })
	for range 4 {
		w.reconcile()
		w.loaded()
		w.Clock.Step(2 * time.Second)
	}
	w.reconcile()
	w.loaded()
	_, s := w.reconcile()
	if len(w.pods()) != 1 || w.pods()[0].Name != before || len(w.packages()) != 1 || signature(s) != "False Unverified" {
		t.Errorf("pods %v, packages %v, signature %s: %+v", w.running(), w.packages(), signature(s), s.Status)
	}
	calls := v.calls.Load()
	w.Clock.Step(5 * time.Second)
	w.reconcile()
	must.Equal(t, "a refused image was verified", v.calls.Load(), calls)
}

// TestAnAcceptedImageIsRunAsItIsNamed: where the policy accepts every digest, the registry need not answer this manager.
func TestAnAcceptedImageIsRunAsItIsNamed(t *testing.T) {
	s := source(grpc(0))
	s.Annotations = map[string]string{PodAnnotation: "true"}
	w := newWorld(t, s, namespaceOf())
	w.withPods(newServer(t, good))
	w.registry.err = errors.New("registry is down")
	w.verifies(&verifier{all: true})
	s = w.settle(digestOne)
	if got := w.running(); !slices.Equal(got, []string{repo + ":latest"}) || signature(s) != "True Accepted" || w.registry.heads.Load() != 0 {
		t.Errorf("it runs %v, signature %s, %d requests", got, signature(s), w.registry.heads.Load())
	}
}

// TestAPolicyThatChangesDuringAVerification leads to another one, without an event.
func TestAPolicyThatChangesDuringAVerification(t *testing.T) {
	for name, change := range map[string]func(*verifier){
		"after it has decided": func(v *verifier) {
			v.onCall = func() { v.refused, v.onCall = append(v.refused, "another"), nil }
		},
		"before it begins": func(v *verifier) {
			v.onPolicy = func() { v.refused, v.onPolicy = append(v.refused, "another"), nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, v, _ := inPod(t, 0)
			v.set(func(v *verifier) { v.refused = []string{"other"} })
			v.set(change)
			for range 5 {
				result, s := w.reconcile()
				if w.c.memory.known[ref].seenPod != "" && len(w.packages()) == 1 && signature(s) == "True Signed" && v.onCall == nil && v.onPolicy == nil {
					return
				}
				if result.RequeueAfter == 0 || result.RequeueAfter > time.Minute {
					t.Fatalf("it is reconciled after %s: %+v", result.RequeueAfter, s.Status)
				}
				w.Clock.Step(result.RequeueAfter)
			}
			t.Errorf("it is not decided: %+v", w.source().Status)
		})
	}
}

// TestASlowVerificationHoldsNoWorker: it continues in the background, what runs stays, and its end lets the catalog be reconciled.
func TestASlowVerificationHoldsNoWorker(t *testing.T) {
	w, v, _ := inPod(t, 0)
	finished := make(chan catalog.Ref, 8)
	w.c.verifications.finished = func(ref catalog.Ref) { finished <- ref }
	w.c.grace = time.Millisecond
	v.slow = make(chan struct{})
	v.set(func(v *verifier) { v.refused = []string{"other"} })
	calls, begun := v.calls.Load(), time.Now()
	for range 3 {
		if _, s := w.reconcile(); len(w.pods()) != 1 || w.packages() != nil || s.Status.RegistryServiceStatus == nil {
			t.Errorf("while it is verified: %d pods, packages %v, %+v", len(w.pods()), w.packages(), s.Status)
		}
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("three passes took %s", took)
	}
	close(v.slow)
	select {
	case <-finished:
	case <-time.After(time.Minute):
		t.Fatal("the end of the verification lets nothing be reconciled")
	}
	if _, s := w.reconcile(); len(w.packages()) != 1 || signature(s) != "True Signed" || v.calls.Load() != calls+1 {
		t.Errorf("packages %v, signature %s after %d verifications", w.packages(), signature(s), v.calls.Load()-calls)
	}
}

// TestRestoredContentOfAPodIsJudged: after a start, too, it is offered only with a verified image.
func TestRestoredContentOfAPodIsJudged(t *testing.T) {
	for name, test := range map[string]struct {
		change func(w *world, v *verifier)
		want   int // packages
	}{
		"accepted":                     {func(*world, *verifier) {}, 1},
		"refused":                      {func(_ *world, v *verifier) { v.refused = []string{digestOne} }, 0},
		"the registry does not answer": {func(_ *world, v *verifier) { v.down = errors.New("registry is down") }, 0},
		"the tag is moved":             {func(w *world, _ *verifier) { w.registry.content = strings.Repeat("2", 64) }, 0},
		"it is served by no pod any longer": {func(w *world, _ *verifier) {
			w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = nil })
			w.registry.err = errors.New("down")
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := source(grpc(0))
			s.Annotations = map[string]string{PodAnnotation: "true"}
			w := newWorld(t, s, namespaceOf())
			w.withPods(newServer(t, good))
			w.registry.content = strings.Repeat("1", 64)
			v := w.verifies(&verifier{})
			w.c.records.dir, w.c.records.indexes = dir, w.indexes
			w.settle(digestOne)
			w.restarted() // no server can be reached now
			w.verifies(v)
			w.c.grace = time.Second
			test.change(w, v)
			if _, s = w.reconcile(); len(w.packages()) != test.want {
				t.Errorf("packages %v, want %d: %+v", w.packages(), test.want, s.Status)
			}
			if e, _ := w.c.catalogs.Get(ref); e.Image != "" && e.Index != nil {
				t.Errorf("what a pod has answered counts as the content of image %s", e.Image)
			}
		})
	}
}

// TestCoverageReturnsWithTheManager: a catalog that a pod has served is that of its image once the manager reads it, and covers what it names.
func TestCoverageReturnsWithTheManager(t *testing.T) {
	w, _, _ := inPod(t, time.Hour)
	if e, _ := w.c.catalogs.Get(ref); e.Image != "" || e.Index == nil {
		t.Fatalf("in a pod: %+v", e)
	}
	w.update(func(s *v1alpha1.CatalogSource) { s.Annotations = nil })
	for range 3 {
		w.Clock.Step(2 * time.Hour)
		w.reconcile()
	}
	if e, _ := w.c.catalogs.Get(ref); e.Image != repo+":latest" || e.Index == nil || e.Index.Digest() != digestOne {
		t.Errorf("served by the manager: %+v", e)
	}
}

// TestABrokenSecretIsNotReadAllTheTime while the signature policy has changed.
func TestABrokenSecretIsNotReadAllTheTime(t *testing.T) {
	spec := grpc(time.Hour)
	spec.Secrets = []string{"pull"}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	w := newWorld(t, source(spec), secret)
	w.registry.content = strings.Repeat("1", 64)
	v := w.verifies(&verifier{})
	if w.reconcile(); len(w.packages()) != 1 {
		t.Fatal("nothing is served")
	}
	must.NoError(t, w.client.Delete(t.Context(), secret))
	v.set(func(v *verifier) { v.refused = []string{"other"} })
	var result ctrl.Result
	for range 8 {
		result, _ = w.reconcile()
		w.Clock.Step(result.RequeueAfter)
	}
	if result.RequeueAfter < 10*time.Second || len(w.packages()) != 1 {
		t.Errorf("it is tried again after %s, with packages %v", result.RequeueAfter, w.packages())
	}
}

// TestAVerificationThatCannotEndIsRepeatedWithBackOff, of content that is not an image any more.
func TestAVerificationThatCannotEndIsRepeatedWithBackOff(t *testing.T) {
	w := newWorld(t, source(grpc(time.Hour)))
	w.registry.content = strings.Repeat("1", 64)
	v := w.verifies(&verifier{})
	w.reconcile()
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec = atAddress("nowhere:1") })
	v.set(func(v *verifier) { v.refused = []string{"other"} })
	var result ctrl.Result
	for range 8 {
		result, _ = w.reconcile()
		w.Clock.Step(result.RequeueAfter)
	}
	if result.RequeueAfter < 10*time.Second {
		t.Errorf("it is tried again after %s", result.RequeueAfter)
	}
}

// TestAPolicyThatChangesDuringALoad judges what was read before it is published.
func TestAPolicyThatChangesDuringALoad(t *testing.T) {
	w := newWorld(t, source(grpc(time.Hour)))
	w.registry.content = strings.Repeat("1", 64)
	v := w.verifies(&verifier{})
	v.onCall = func() { v.refused = []string{digestOne} } // right after it was accepted
	if _, s := w.reconcile(); w.packages() != nil {
		t.Errorf("packages %v of a refused image are published: %+v", w.packages(), s.Status)
	}
	w.Clock.Step(time.Second)
	if _, s := w.reconcile(); w.packages() != nil || signature(s) != "False Unverified" {
		t.Errorf("packages %v, signature %s", w.packages(), signature(s))
	}
}
