package catalogsource

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/test/must"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestManagersThatNothingLeadsToAreForgotten: each restart outside of the cluster has another port.
func TestManagersThatNothingLeadsToAreForgotten(t *testing.T) {
	w := newWorld(t)
	p := w.c.services.peers
	p.call = func(context.Context, string) error { return nil }
	for i := range 50 {
		slice := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{addressAnnotation: fmt.Sprintf("192.0.2.9:%d", 1000+i)}}}
		p.gone(t.Context(), slice)
		w.settled()
		w.Clock.Step(peerPause)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.seen); n > 12 {
		t.Errorf("%d managers are remembered, and one is there", n)
	}
}

// TestAnOwnerThatIsAddedMeanwhileStays: two catalogs adopt a ConfigMap at once, and the one that read it first must not undo the other.
func TestAnOwnerThatIsAddedMeanwhileStays(t *testing.T) {
	s := source(inConfigMap("content"))
	w := newWorld(t, s, configMap("content", good))
	stale := w.edit("content", "")
	theirs := w.edit("content", "")
	theirs.OwnerReferences = []metav1.OwnerReference{{APIVersion: "operators.coreos.com/v1alpha1", Kind: "CatalogSource", Name: "other", UID: "other"}}
	must.NoError(t, w.user(theirs))
	if err := w.c.configMaps.(configMaps).adopt(t.Context(), s, stale); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict, after which it is read again", err)
	}
	if m := w.edit("content", ""); len(m.OwnerReferences) != 1 || m.OwnerReferences[0].UID != "other" {
		t.Errorf("owners %v", m.OwnerReferences)
	}
}

// TestAnotherPodIsReadAgain though it answers with the same outline as the one before: its content may differ.
func TestAnotherPodIsReadAgain(t *testing.T) {
	s := source(grpc(0))
	s.Annotations = map[string]string{PodAnnotation: "true"}
	w := newWorld(t, s, namespaceOf())
	pod := newServer(t, good)
	w.withPods(pod)
	w.settle(digestOne)
	known := w.c.memory.known[ref]
	pod.publish(strings.ReplaceAll(good, "registry.example.com/a:v1", "registry.example.com/a:v2"))
	for uid, want := range map[string]bool{known.pod: false, "another": true} {
		known.seenPod = uid
		found, err := w.c.pods.read(t.Context(), w.source(), known)
		if err != nil || (found.index != nil) != want || found.pod != uid {
			t.Errorf("pod %s: read %t, %v", uid, found.index != nil, err)
		}
	}
}

// TestTheMessageIsBounded, whoever wrote what it says.
func TestTheMessageIsBounded(t *testing.T) {
	known := content{spec: "s", warnings: strings.Repeat("wrong ", 10*messages.MaxStatus)}
	if s := status(source(grpc(0)), report{known: known}, time.Unix(1, 0)); s.Message == "" || len(s.Message) > messages.MaxStatus+100 {
		t.Errorf("a message of %d bytes", len(s.Message))
	}
}

// TestWatchesOfSecretsEnd when the manager stops.
func TestWatchesOfSecretsEnd(t *testing.T) {
	var watches []context.Context
	told := 0
	var last func()
	s := &secrets{watch: func(ctx context.Context, _, _ string, changed func()) { watches, last = append(watches, ctx), changed },
		changed: func(catalog.Ref) { told++ }}
	s.follow(ref, []string{"one", "two"})
	s.follow(catalog.Ref{Name: "other"}, []string{"three"})
	w := newWorld(t)
	w.c.secrets = s
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must.NoError(t, w.c.closeWhenDone(ctx))
	for i, watch := range watches {
		if watch.Err() == nil {
			t.Errorf("watch %d of %d goes on", i+1, len(watches))
		}
	}
	if last(); len(watches) != 3 || told != 0 || len(s.followed) != 0 {
		t.Errorf("%d watches, told of %d changes, %d catalogs are followed", len(watches), told, len(s.followed))
	}
}
