package attack

import (
	"fmt"
	"net"
	"testing"

	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPrivatePortsAreOpenToTheirNamespaceAlone: in a pod, the manager may write with its shipped rights the NetworkPolicies that open the port of private
// catalogs, to the pods of one namespace each; that of the manifests opens none of these ports.
func TestPrivatePortsAreOpenToTheirNamespaceAlone(t *testing.T) {
	w := newWorld(t)
	host, _, err := net.SplitHostPort(ownAddress)
	must.NoError(t, err)
	for name, value := range map[string]string{manager.PodIPVariable: host, "POD_NAMESPACE": olm, "POD_NAME": "manager", "POD_UID": "manager"} {
		t.Setenv(name, value)
	}
	w.run(nil)
	var base networkingv1.NetworkPolicy
	must.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: olm, Name: "fairlead-manager"}, &base))
	for _, namespace := range []string{w.namespace("attack-one"), w.namespace("attack-other")} {
		w.catalogSource(namespace, "catalog", onePackage("of-"+namespace))
		_, number, err := net.SplitHostPort(w.leadsTo(namespace, "catalog", ""))
		must.NoError(t, err)
		for _, rule := range base.Spec.Ingress {
			for _, open := range rule.Ports {
				if open.Port == nil || open.Port.String() == number || open.EndPort != nil {
					t.Errorf("the manifests open port %s: %+v", number, open)
				}
			}
		}
		var p networkingv1.NetworkPolicy
		must.Eventually(w.t, "port "+number+" to be opened", func() error {
			return w.Get(t.Context(), client.ObjectKey{Namespace: olm, Name: "fairlead-catalogs-" + number}, &p)
		})
		must.Equal(t, "it selects other pods than those of the manager", p.Spec.PodSelector, base.Spec.PodSelector)
		if len(p.Spec.Ingress) != 1 || len(p.Spec.Ingress[0].From) != 1 || len(p.Spec.Ingress[0].Ports) != 1 || p.Spec.Ingress[0].Ports[0].Port.String() != number {
			t.Fatalf("it opens %+v", p.Spec.Ingress)
		}
		want := networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}}
		must.Equal(t, fmt.Sprintf("port %s is open to others than namespace %s", number, namespace), p.Spec.Ingress[0].From[0], want)
		t.Logf("port %s is that of %s", number, namespace)
	}
}
