package clustercatalog

import (
	"errors"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

func (w *world) says(name string, want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.said(name)); diff != "" {
		w.Errorf("status: want -, got +:\n%s", diff)
	}
}

const (
	succeeded1 = "Progressing True Succeeded 1: " + messageUnpacked
	serving1   = "Serving True Available 1: " + messageServing
	at         = "at " + baseURL + "/catalogs/cat"
	began      = "unpacked 22:13:20"
)

var latest = repository + ":latest"

// TestACatalogIsServed: one write of the status, one of the label, and afterwards none, however often nothing is new.
func TestACatalogIsServed(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 10))
	result := w.settle("cat")
	w.says("cat", succeeded1, serving1, "resolved "+repository+"@"+digest(1), at, began)
	if got := w.served("cat"); got != digest(1) {
		t.Errorf("served %q", got)
	}
	must.Equal(t, "label", w.get("cat").Labels[olmv1.MetadataNameKey], "cat")
	must.Empty(t, "finalizers", w.get("cat").Finalizers)
	if least := 10 * time.Minute; result.RequeueAfter < least || result.RequeueAfter > least+least/100 {
		t.Errorf("it is looked at again after %s", result.RequeueAfter)
	}
	for range 5 {
		w.clock.Step(11 * time.Minute)
		w.settle("cat")
	}
	must.Equal(t, "writes", w.server.Taken(), []string{labelled, reported})
	if w.registry.heads != 6 || w.registry.loads != 1 {
		t.Errorf("%d questions and %d reads", w.registry.heads, w.registry.loads)
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { delete(o.Labels, olmv1.MetadataNameKey) })
	w.settle("cat")
	must.Equal(t, "label", w.get("cat").Labels[olmv1.MetadataNameKey], "cat")
	must.Equal(t, "heads", w.registry.heads, 6)
}

// TestPullSecret: the one of all catalogs is used once it is there, at once, and what cannot be read is reported.
func TestPullSecret(t *testing.T) {
	w := newWorld(t, clusterCatalog(latest, 0))
	w.registry.err = errors.New("unauthorized")
	w.settle("cat")
	must.Empty(t, "docker config", w.registry.auth.DockerConfig)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	must.NoError(t, w.client.Create(t.Context(), secret))
	w.registry.err = nil
	w.c.credentials.changes.Add(1) // as the watch of the Secret does
	w.settle("cat")
	if got := w.registry.auth.DockerConfig; len(got) != 1 || string(got[0]) != `{"auths":{}}` || w.served("cat") != digest(1) {
		t.Errorf("credentials %s, served %q", got, w.served("cat"))
	}
	w.change("cat", func(o *olmv1.ClusterCatalog) { o.Spec.Source.Image.Ref = repository + "@" + digest(4) })
	secret.Data = nil
	must.NoError(t, w.client.Update(t.Context(), secret, &client.UpdateOptions{}))
	w.settle("cat")
	w.says("cat", "Progressing True Retrying 2: read pull secret olm/pull: it has neither .dockerconfigjson nor .dockercfg; create it with type kubernetes.io/dockerconfigjson",
		serving1, "resolved "+repository+"@"+digest(1), at, began)
}

// TestALongName, which no label can hold, keeps no catalog from being served: it has no label with its name, and nothing is written for that.
func TestALongName(t *testing.T) {
	object := clusterCatalog(latest, 0)
	object.Name = strings.Repeat("x", 64)
	w := newWorld(t, object)
	w.settle(object.Name)
	if got := w.served(object.Name); got != digest(1) || w.get(object.Name).Labels[olmv1.MetadataNameKey] != "" {
		t.Errorf("served %q with labels %v", got, w.get(object.Name).Labels)
	}
	must.Equal(t, "writes", w.server.Taken(), []string{"patch status ClusterCatalog " + object.Name})
}
