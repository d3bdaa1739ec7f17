package catalogsource

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// connected is when the content of a catalog was reached last, according to its status.
func connected(t *testing.T, s *v1alpha1.CatalogSource) metav1.Time {
	t.Helper()
	if s.Status.GRPCConnectionState == nil || s.Status.GRPCConnectionState.LastObservedState != "READY" {
		t.Fatalf("connectionState %+v, want READY", s.Status.GRPCConnectionState)
	}
	return s.Status.GRPCConnectionState.LastConnectTime
}

// TestLastConnectFollowsEachReading: clients wait until lastConnect is after configMapReference.lastUpdateTime, and after what it was
// before they changed the ConfigMap. Both have a precision of a second, and content is read several times in one.
func TestLastConnectFollowsEachReading(t *testing.T) {
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
	_, s := w.reconcile()
	at := connected(t, s)
	if updated := s.Status.ConfigMapResource.LastUpdateTime; !at.After(updated.Time) {
		t.Errorf("lastConnect is %s, want it after lastUpdateTime %s", at, updated)
	}
	for _, change := range []string{strings.ReplaceAll(good, `"a"`, `"b"`), good} { // both in the same second
		w.edit("content", change)
		_, s = w.reconcile()
		if updated := s.Status.ConfigMapResource.LastUpdateTime; !connected(t, s).After(updated.Time) || !connected(t, s).After(at.Time) {
			t.Errorf("after a change: lastConnect is %s, want it after lastUpdateTime %s and after %s", connected(t, s), updated, at)
		}
		at = connected(t, s)
	}
	// A change beside the content is another version of the ConfigMap all the same.
	w.Clock.Step(time.Minute)
	m := w.edit("content", "")
	m.Labels["theirs"] = "x"
	must.NoError(t, w.user(m))
	_, s = w.reconcile()
	if updated := s.Status.ConfigMapResource.LastUpdateTime; !updated.Time.Equal(w.Clock.Now()) || !connected(t, s).After(updated.Time) {
		t.Errorf("after a change of labels: lastUpdateTime %s, lastConnect %s", updated, connected(t, s))
	}
	w.Taken()
	w.Clock.Step(time.Hour)
	w.reconcile()
	must.Empty(t, "writes of looking again without news", w.Writes())
}

// TestLastConnectMovesWhenARestartedManagerReads: also where the content is that of the earlier run, and once only.
func TestLastConnectMovesWhenARestartedManagerReads(t *testing.T) {
	for name, spec := range map[string]v1alpha1.CatalogSourceSpec{"a ConfigMap": inConfigMap("content"), "an image": grpc(0)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(spec), configMap("content", good))
			w.c.records = records{dir: t.TempDir(), indexes: w.indexes}
			_, s := w.reconcile()
			before := connected(t, s)
			w.Clock.Step(time.Minute)
			w.restarted()
			_, s = w.reconcile()
			if after := connected(t, s); !after.After(before.Time) || after.Before(&metav1.Time{Time: w.Clock.Now()}) {
				t.Errorf("lastConnect is %s, was %s, and the content was read at %s", after, before, w.Clock.Now())
			}
			w.Taken()
			w.Clock.Step(time.Minute)
			w.reconcile()
			must.Empty(t, "writes of looking again", w.Writes())
		})
	}
}

// TestPollsAreReportedOnceAMinute: a poll that finds nothing new is no reason to write every second; one that does is reported at once.
func TestPollsAreReportedOnceAMinute(t *testing.T) {
	w := newWorld(t, source(grpc(5*time.Second)))
	_, s := w.reconcile()
	first, heads := s.Status.LatestImageRegistryPoll, w.registry.heads.Load()
	w.Taken()
	for range 9 {
		w.Clock.Step(6 * time.Second)
		_, s = w.reconcile()
	}
	if asked := w.registry.heads.Load() - heads; len(w.Writes()) > 0 || !s.Status.LatestImageRegistryPoll.Equal(first) || asked != 9 {
		t.Errorf("9 unchanged polls within a minute asked %d times, writes %v, latestImageRegistryPoll %s, was %s", asked, w.Writes(), s.Status.LatestImageRegistryPoll, first)
	}
	w.Clock.Step(6 * time.Second)
	if _, s = w.reconcile(); w.Count(reported) != 1 || !s.Status.LatestImageRegistryPoll.Time.Equal(w.Clock.Now()) {
		t.Errorf("after a minute: writes %v, latestImageRegistryPoll %s, want %s", w.Writes(), s.Status.LatestImageRegistryPoll, w.Clock.Now())
	}
	w.registry.content = "two"
	w.Clock.Step(6 * time.Second)
	if _, s = w.reconcile(); !s.Status.LatestImageRegistryPoll.Time.Equal(w.Clock.Now()) {
		t.Errorf("a poll that found new content: latestImageRegistryPoll %s, want %s", s.Status.LatestImageRegistryPoll, w.Clock.Now())
	}
}
