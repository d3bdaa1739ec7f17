package webhooks

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// servers are where the servers listen that stand in for pods, by NAMESPACE/DEPLOYMENT.
var servers sync.Map

// cluster is the cluster that the manager runs on, once it does.
var cluster atomic.Pointer[client.Client]

// dial reaches the server that stands in for a pod, as a manager in the cluster reaches the pod.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := (*cluster.Load()).List(ctx, &pods); err != nil {
		return nil, err
	}
	for _, pod := range pods.Items {
		if to, ok := servers.Load(pod.Namespace + "/" + pod.Labels["app"]); ok && pod.Status.PodIP == host && pod.DeletionTimestamp.IsZero() {
			return (&net.Dialer{}).DialContext(ctx, network, to.(string))
		}
	}
	return nil, fmt.Errorf("dial %s: no server of a test stands in for it", address)
}

// TestConversionWaitsForItsCertificate: a server that shows a certificate of its own is ready, and the API server would not believe it. Nobody's
// request goes to it, and things are read and written as before.
func TestConversionWaitsForItsCertificate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.serve("manager")
	own := must.Value(serving.Issue(serving.Request{Hosts: bundle.ServingHosts("manager", w.Namespace), Now: managers.Now()}))(t)
	pair := must.Value(tls.X509KeyPair(own.Certificate, own.Key))(t)
	s.own = &pair
	w.Make(w.everywhere(), w.things(), w.operator("op.v1", fixture.Modes("AllNamespaces"), w.owns, w.hooks("manager", converting)))
	must.Eventually(w, "the kind to be served", func() error {
		return client.IgnoreAlreadyExists(w.Create(w.Context(), w.thing(w.Namespace, "v1", "used", 7)))
	})
	csv := w.Is("op.v1", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting)
	must.Eventually(w, "the certificate to be noticed", func() error {
		w.Read("op.v1", csv)
		const shown, what = "shows no certificate that the API server would trust", "Secret %s/manager-service-cert"
		if m := csv.Status.Message; !strings.Contains(m, shown) || !strings.Contains(m, fmt.Sprintf(what, w.Namespace)) {
			return fmt.Errorf("%s: %s", csv.Status.Phase, m)
		}
		return nil
	})
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if w.Read("things."+w.group, crd); crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		t.Errorf("the conversion is %+v", crd.Spec.Conversion)
	}
	if thing := w.thing(w.Namespace, "v2", "used", 0); !w.Read("used", thing) || size(thing) != 7 {
		t.Errorf("the thing is read as %v", thing)
	}
	s.mu.Lock()
	s.own = nil
	s.mu.Unlock()
	w.Succeeds("op.v1")
	w.conversions(s, "used")
}
