package clusterextension

import (
	"context"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// asking remembers the credentials that bundles are asked for with.
type asking struct {
	Bundles
	with image.Auth
}

func (a *asking) Get(ctx context.Context, r bundleio.Request, timeout time.Duration) bundleio.State {
	a.with = r.Auth
	return a.Bundles.Get(ctx, r, timeout)
}

// TestThePullSecretForAll: no object names one for the bundles of extensions, so that of the manager counts.
func TestThePullSecretForAll(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}})
	asked := &asking{Bundles: w.bundles}
	w.controller.Bundles, w.controller.Credentials = asked, bundleio.Credentials{Secret: types.NamespacedName{Namespace: "olm", Name: "pull"}}
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	if got := asked.with.DockerConfig; len(got) != 1 || string(got[0]) != `{"auths":{}}` {
		t.Errorf("asked with %s", got)
	}
}

// TestPullSecretsThatCannotBeRead for a moment are read again soon, although nothing else happens in the cluster.
func TestPullSecretsThatCannotBeRead(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	w.controller.Credentials = bundleio.Credentials{Account: types.NamespacedName{Namespace: "olm", Name: "manager"}}
	w.server.Read = func(o client.Object, _ string) error {
		if _, account := o.(*corev1.ServiceAccount); account {
			return errGone
		}
		return nil
	}
	result := w.pass("my")
	if got := w.condition("my", "Progressing"); !strings.HasPrefix(got, "True/Retrying: ") || result.RequeueAfter != recheck {
		t.Errorf("after %s it is tried again in %s", got, result.RequeueAfter)
	}
	w.server.Taken()
	w.pass("my")
	must.Empty(t, "to try again in vain writes", w.server.Taken())
	w.server.Read = nil
	if result = w.pass("my"); len(w.revisions("my")) != 1 || result.RequeueAfter != 0 {
		t.Errorf("with the account back there are revisions %v, and the next look is in %s", names(w.revisions("my")), result.RequeueAfter)
	}
}
