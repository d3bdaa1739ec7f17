package clusterobjectset

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
)

// workloads judge the Deployments and StatefulSets of a set in one pass, several at a time.
type workloads struct {
	judge rollout.Judge

	mu    sync.Mutex
	loops bool      // one is begun again and again, in vain
	again time.Time // when one is to be judged again; zero is at an event
}

// workloads of a set. Once it has succeeded they are available as soon as Kubernetes says so, as long as it has said so all the time.
func (c *Controller) workloads(set *olmv1.ClusterObjectSet) *workloads {
	w := &workloads{}
	progressing, available := meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeProgressing), meta.FindStatusCondition(set.Status.Conditions, olmv1.TypeAvailable)
	lost := hasSucceeded(set) && available != nil && available.Status == metav1.ConditionFalse
	w.judge = rollout.Judge{Reader: c.live, Clock: c.clock, StableAfter: c.stableAfter, Proven: hasSucceeded(set) && !lost,
		Doubtful: lost || progressing != nil && progressing.Reason == olmv1.ReasonCrashLoopBackOff, Again: w.by}
	return w
}

// probe is what a workload has to satisfy; nil for objects of other kinds.
func (w *workloads) probe(ctx context.Context, desired *unstructured.Unstructured) rollout.Probe {
	return rollout.WorkloadProbe(ctx, desired, w.judge, func(h rollout.Health) {
		if h.State == rollout.CrashLooping {
			w.mu.Lock()
			w.loops = true
			w.mu.Unlock()
		}
	})
}

func (w *workloads) by(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.again.IsZero() || at.Before(w.again) {
		w.again = at
	}
}

// addTo adds what was seen of workloads to what a pass came to.
func (w *workloads) addTo(o outcome) outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	o.loops = w.loops
	if o.err == nil && !w.again.IsZero() {
		o.retry = reconcile.Sooner(o.retry, max(w.again.Sub(w.judge.Clock.Now()), time.Second))
	}
	return o
}
