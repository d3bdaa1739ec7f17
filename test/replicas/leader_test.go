package replicas

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	replacedAfterKill = 20 * time.Second
	replacedAfterStop = 5 * time.Second
)

// TestAKilledLeaderIsReplaced within 20 s, whenever it is killed: until then another one has acted on what was waiting.
func TestAKilledLeaderIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.replica()
	w.replica()
	var longest time.Duration
	rounds := sweep.Of(1, 3, 12)
	for range rounds {
		old := w.leader()
		time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		killed := time.Now()
		w.kill(old)
		took := w.actedOn(w.waiting(), killed)
		t.Logf("another one acted %.1f s after the leader was killed", took.Seconds())
		longest = max(longest, took)
		w.replica()
	}
	t.Logf("replacement after a kill: at most %.1f s in %d kills", longest.Seconds(), rounds)
	if longest > must.Within(replacedAfterKill) {
		t.Errorf("a killed leader was replaced after %s, want at most %s", longest, replacedAfterKill)
	}
	w.Succeeds(w.waiting())
}

// TestAStoppedLeaderIsReplacedAtOnce, while it still answers its clients.
func TestAStoppedLeaderIsReplacedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.replica()
	w.replica()
	var longest time.Duration
	rounds := sweep.Of(1, 3, 12)
	for range rounds {
		old := w.leader()
		w.waiting() // something is under way
		told := time.Now()
		w.tell(old)
		took := w.actedOn(w.waiting(), told)
		if !old.alive() {
			t.Errorf("the leader was told to stop, and its servers ended before another one had acted")
		}
		t.Logf("another one acted %.1f s after the leader was told to stop", took.Seconds())
		longest = max(longest, took)
		<-old.ended
		if old.err != nil {
			t.Errorf("the leader did not end well: %v", old.err)
		}
		w.replica()
	}
	t.Logf("replacement after a stop: at most %.1f s in %d stops", longest.Seconds(), rounds)
	if longest > must.Within(replacedAfterStop) {
		t.Errorf("a stopped leader was replaced after %s, want at most %s", longest, replacedAfterStop)
	}
}

// etcd is the process that stores what the cluster of the tests has.
func etcd(t *testing.T) *os.Process {
	t.Helper()
	cluster := must.Value(devcluster.Connect(filepath.Dir(devcluster.Kubeconfig())))(t)
	status := must.Value(cluster.Status(t.Context()))(t)
	for _, c := range status.Components {
		if c.Name == devcluster.Etcd {
			return must.Value(os.FindProcess(c.PID))(t)
		}
	}
	t.Fatal("the cluster has no etcd")
	return nil
}

// stall lets nothing be stored for a while, from a time after the lease was renewed.
func (w *world) stall(store *os.Process, after, during time.Duration) {
	w.Helper()
	before := w.lease().ResourceVersion
	for w.lease().ResourceVersion == before {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(after)
	must.NoErrorf(w, store.Signal(syscall.SIGSTOP), "stop etcd for a while")
	defer func() { must.NoErrorf(w, store.Signal(syscall.SIGCONT), "let etcd go on") }()
	time.Sleep(during)
}

// TestAStallOfTenSecondsChangesNothing: whenever it begins between two renewals of the lease, the leader goes on leading, and no process ends.
func TestAStallOfTenSecondsChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.replica()
	w.replica()
	leader, store := w.leader(), etcd(t)
	before := holder(w.lease())
	steps := sweep.Of(1, 4, 8)
	for step := range steps {
		after := time.Duration(step) * 800 * time.Millisecond / time.Duration(steps)
		w.stall(store, after, 10*time.Second)
		resumed := time.Now()
		took := w.actedOn(w.waiting(), resumed)
		t.Logf("a stall of 10 s, %s after the lease was renewed: the leader acted again after %.1f s", after, took.Seconds())
		for _, r := range w.replicas {
			if !r.alive() {
				t.Fatalf("%s ended: %v", r.pod.Name, r.err)
			}
		}
		must.Equal(t, "holder of the lease", holder(w.lease()), before)
		must.Equal(t, "the leader", w.leader() == leader, true)
	}
}

// TestALongStallEndsTheLeader, before another one may lead, which does when the API server answers again.
func TestALongStallEndsTheLeader(t *testing.T) {
	w := newWorld(t)
	w.replica()
	w.replica()
	old, store := w.leader(), etcd(t)
	began := time.Now()
	w.stall(store, 0, 16*time.Second)
	select {
	case <-old.ended:
	default:
		t.Fatalf("the leader is there %s after the lease was renewed for the last time", time.Since(began))
	}
	must.Contain(t, "the log of the old leader", string(must.Value(os.ReadFile(old.log))(t)), "the lease could not be renewed in time", "why the API server did not answer for 14s")
	must.NoErrorf(t, client.IgnoreNotFound(w.Delete(t.Context(), old.pod, client.GracePeriodSeconds(0))), "delete the pod of the old leader")
	w.actedOn(w.waiting(), time.Now())
	must.Equal(t, "the same leader", w.leader() == old, false)
}
