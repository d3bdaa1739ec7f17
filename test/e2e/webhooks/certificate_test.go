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
	own, err := serving.Issue(serving.Request{Hosts: bundle.ServingHosts("manager", w.namespace), Now: managers.Now()})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(own.Certificate, own.Key)
	if err != nil {
		t.Fatal(err)
	}
	s.own = &pair
	w.make(w.everywhere(), w.things(), w.operator("op.v1", modes("AllNamespaces"), w.owns, w.hooks("manager", converting)))
	w.eventually("the kind to be served", func() error {
		return client.IgnoreAlreadyExists(w.Create(w.Context(), w.thing(w.namespace, "v1", "used", 7)))
	})
	csv := w.is("op.v1", v1alpha1.CSVPhaseInstalling, v1alpha1.CSVReasonWaiting)
	w.eventually("the certificate to be noticed", func() error {
		w.read("op.v1", csv)
		const shown, what = "shows no certificate that the API server would trust", "Secret %s/manager-service-cert"
		if m := csv.Status.Message; !strings.Contains(m, shown) || !strings.Contains(m, fmt.Sprintf(what, w.namespace)) {
			return fmt.Errorf("%s: %s", csv.Status.Phase, m)
		}
		return nil
	})
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if w.read("things."+w.group, crd); crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		t.Errorf("the conversion is %+v", crd.Spec.Conversion)
	}
	if thing := w.thing(w.namespace, "v2", "used", 0); !w.read("used", thing) || size(thing) != 7 {
		t.Errorf("the thing is read as %v", thing)
	}
	s.mu.Lock()
	s.own = nil
	s.mu.Unlock()
	w.succeeds("op.v1")
	w.conversions(s, "used")
}
