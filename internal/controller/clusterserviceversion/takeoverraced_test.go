package clusterserviceversion

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
)

// raced reads what is live, and another client makes an object once it has been read that there is none.
type raced struct {
	client.Reader
	k      *cluster
	theirs client.Object
	is     func(client.Object) bool
	read   bool
}

func (r *raced) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, o, opts...)
	if !r.read && key.Name == r.theirs.GetName() && r.is(o) {
		r.read = true
		r.k.create(r.theirs.DeepCopyObject().(client.Object))
	}
	return err
}

// TestWhatIsMadeMeanwhileIsKept: a user makes a Deployment or a Service of the name that the operator wants between the read, which found none, and
// the write. It is not overwritten, and the next pass finds that it belongs to no operator.
func TestWhatIsMadeMeanwhileIsKept(t *testing.T) {
	for kind, theirs := range map[string]client.Object{
		"Deployment": &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "manager"},
			Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "theirs"}}}},
		"Service": &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: bundle.ServingServiceName("manager")},
			Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "theirs"}, Ports: []corev1.ServicePort{{Port: 443}}}},
	} {
		t.Run(kind, func(t *testing.T) {
			theirs.SetNamespace(ns)
			theirs.SetAnnotations(map[string]string{"made": "by hand"})
			k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
			raced := &raced{Reader: k.api, k: k, theirs: theirs, is: func(o client.Object) bool { return o.GetObjectKind().GroupVersionKind().Kind == kind }}
			k.c.live = raced
			k.create(newCSV("op.v1", withWebhooks, withoutAccounts))
			for range 12 {
				_, _ = k.reconcile("op.v1")
			}
			live := emptyLike(theirs)
			k.get(ns, theirs.GetName(), live)
			if len(live.GetOwnerReferences()) > 0 || len(live.GetLabels()) > 0 || live.GetAnnotations()["made"] == "" {
				t.Errorf("it was written over: owners %v, labels %v", live.GetOwnerReferences(), live.GetLabels())
			}
			must.Equal(t, "the cluster was asked", raced.read, true)
			if message := k.csv("op.v1").Status.Message; message == "" {
				t.Error("the status does not say why")
			} else {
				t.Log(message)
			}
		})
	}
}
