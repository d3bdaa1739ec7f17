package clusterextension

import (
	"context"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/unpack"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// asking remembers the credentials that bundles are asked for with.
type asking struct {
	Bundles
	with image.Auth
}

func (a *asking) Get(ctx context.Context, r unpack.Request, patience time.Duration) unpack.State {
	a.with = r.Auth
	return a.Bundles.Get(ctx, r, patience)
}

// TestThePullSecretForAll: no object names one for the bundles of extensions, so that of the manager counts.
func TestThePullSecretForAll(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}})
	asked := &asking{Bundles: w.bundles}
	w.controller.Bundles, w.controller.Credentials = asked, unpack.Credentials{Secret: types.NamespacedName{Namespace: "olm", Name: "pull"}}
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	if got := asked.with.DockerConfig; len(got) != 1 || string(got[0]) != `{"auths":{}}` {
		t.Errorf("asked with %s", got)
	}
}
