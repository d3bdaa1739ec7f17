package clusterserviceversion

import (
	"testing"
	"testing/synctest"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/must"
)

// TestLossOfPermissionsWakes: a binding that loses a subject, or its owner labels, wakes the CSV that lost by it.
func TestLossOfPermissionsWakes(t *testing.T) {
	csv := newCSV("op.v1")
	k := newCluster(t, newGroup(""), csv)
	for name, pair := range map[string][2]*rbacv1.ClusterRoleBinding{
		"subject": {{Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: ns, Name: "account"}}}, {}},
		"labels":  {{ObjectMeta: metav1.ObjectMeta{Labels: bundle.OwnerLabels(csv)}}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
				defer q.ShutDown()
				reconcile.After(reconcile.Burst, k.c.triggers().usingBinding).Update(t.Context(), event.UpdateEvent{ObjectOld: pair[0], ObjectNew: pair[1]}, q)
				time.Sleep(2 * reconcile.Burst)
				synctest.Wait()
				must.Equal(t, "ClusterServiceVersions that are requeued", q.Len(), 1)
			})
		})
	}
}
