package clusterextension

import (
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/test/must"
)

// newQueue is what a Notifier adds to.
func newQueue(t *testing.T, n *Notifier) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	t.Helper()
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	must.NoError(t, n.news.Start(t.Context(), q))
	return q
}

func progressOf(e *olmv1.ClusterExtension) *metav1.Condition {
	return meta.FindStatusCondition(e.Status.Conditions, olmv1.TypeProgressing)
}
