package grpccatalog

import (
	"slices"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// clients are the pods that may ask the server of a catalog. Catalogs of the global namespace are for all of them, and so is any catalog where the
// manager is in no pod: a policy cannot name it then. Other catalogs are for the pods of their own namespace and for the manager.
func clients(namespace string, settings Settings) []networkingv1.NetworkPolicyPeer {
	if namespace == settings.GlobalNamespace || settings.ManagerNamespace == "" {
		return nil
	}
	var peers []networkingv1.NetworkPolicyPeer
	for _, name := range slices.Compact([]string{namespace, settings.ManagerNamespace}) {
		peers = append(peers, networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}}})
	}
	return peers
}

// unpackPolicy is for pods that unpack bundles. The manager unpacks bundles itself, but the policy is part of what a catalog in a pod
// has always come with.
func unpackPolicy(source *v1alpha1.CatalogSource) *networkingv1.NetworkPolicy {
	p := networkPolicy(source, UnpackPolicyName(source.Name), metav1.LabelSelector{
		MatchLabels:      managed(),
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: v1alpha1.BundleUnpackRefLabel, Operator: metav1.LabelSelectorOpExists}},
	})
	p.Spec.Egress = anywhere()
	return p
}

func networkPolicy(source *v1alpha1.CatalogSource, name string, pods metav1.LabelSelector) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: meta(source, name, selector(source)),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: pods,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		},
	}
}

// anywhere allows everything, and names DNS for implementations that want it named.
func anywhere() []networkingv1.NetworkPolicyEgressRule {
	const dns, openShiftDNS = 53, 5353
	return []networkingv1.NetworkPolicyEgressRule{{}, {Ports: []networkingv1.NetworkPolicyPort{
		policyPort(corev1.ProtocolTCP, dns), policyPort(corev1.ProtocolUDP, dns),
		policyPort(corev1.ProtocolTCP, openShiftDNS), policyPort(corev1.ProtocolUDP, openShiftDNS),
	}}}
}

func policyPort(protocol corev1.Protocol, port int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: ptr.To(intstr.FromInt32(port))}
}
