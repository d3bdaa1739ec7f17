package clusterserviceversion

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"fairlead.dev/fairlead/bundle"
)

// TestASecretMadeMeanwhileIsKept: a user makes the Secret of the serving certificate between the look, which found none, and the write. A private key
// that is overwritten cannot be made again.
func TestASecretMadeMeanwhileIsKept(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: bundle.ServingSecretName("manager")}, Data: map[string][]byte{"tls.key": []byte("theirs")}}
	looked := false
	k.c.live = interceptor.NewClient(k.c.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			err := c.Get(ctx, key, o, opts...)
			if _, is := o.(*corev1.Secret); is && key.Name == theirs.Name && !looked {
				looked = true
				if err := k.client.Create(ctx, theirs.DeepCopy()); err != nil {
					t.Error(err)
				}
			}
			return err
		},
	})
	k.create(newCSV("op.v1", withWebhooks, withoutAccounts))
	for range 12 {
		_, _ = k.reconcile("op.v1")
	}
	live := &corev1.Secret{}
	k.get(ns, theirs.Name, live)
	if !looked || string(live.Data["tls.key"]) != "theirs" {
		t.Errorf("the Secret was looked at: %t; it holds %d bytes of key", looked, len(live.Data["tls.key"]))
	}
}
