package clusterserviceversion

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/bundle"
)

// TestASecretMadeMeanwhileIsKept: a user makes the Secret of the serving certificate between the look, which found none, and the write. A private key
// that is overwritten cannot be made again.
func TestASecretMadeMeanwhileIsKept(t *testing.T) {
	k := newCluster(t, newGroup(""), newCRD("things.example.com", "v1"))
	theirs := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: bundle.ServingSecretName("manager")}, Data: map[string][]byte{"tls.key": []byte("theirs")}}
	raced := &raced{Reader: k.api, k: k, theirs: theirs, is: func(o client.Object) bool { _, is := o.(*corev1.Secret); return is }}
	k.c.live = raced
	k.create(newCSV("op.v1", withWebhooks, withoutAccounts))
	for range 12 {
		_, _ = k.reconcile("op.v1")
	}
	live := &corev1.Secret{}
	k.get(ns, theirs.Name, live)
	if !raced.read || string(live.Data["tls.key"]) != "theirs" {
		t.Errorf("the Secret was looked at: %t; it holds %d bytes of key", raced.read, len(live.Data["tls.key"]))
	}
}
