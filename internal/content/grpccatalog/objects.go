package grpccatalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Port is where the server of every catalog listens.
const Port = 50051

const portName = "grpc"

// Objects are what a catalog in a pod consists of.
type Objects struct {
	// Pod is wanted once, under a name that is decided when it is created.
	Pod            *corev1.Pod
	Service        *corev1.Service
	ServiceAccount *corev1.ServiceAccount
	ServerPolicy   *networkingv1.NetworkPolicy
	UnpackPolicy   *networkingv1.NetworkPolicy
}

// Wanted returns the objects of a catalog that is to be served by a pod.
func Wanted(source *v1alpha1.CatalogSource, settings Settings, observed Observed) (*Objects, error) {
	o, err := Companions(source, settings)
	if err != nil {
		return nil, err
	}
	o.Pod, err = pod(source, settings, observed)
	return o, err
}

// Companions returns all of the objects but the pod: they depend on nothing but the CatalogSource and the Settings.
func Companions(source *v1alpha1.CatalogSource, settings Settings) (*Objects, error) {
	if source.Spec.SourceType != v1alpha1.SourceTypeGrpc || source.Spec.Image == "" {
		return nil, failed(source, errors.New("no image is named that could be run: set spec.sourceType grpc and spec.image"))
	}
	// What clients of the catalog's gRPC API dial.
	spec := corev1.ServiceSpec{
		Ports:    []corev1.ServicePort{{Name: portName, Port: Port, TargetPort: intstr.FromInt32(Port)}},
		Selector: selector(source),
	}
	hash, err := bundle.Hash62(spec)
	if err != nil {
		return nil, failed(source, err)
	}
	// The hash is of the spec before the API server's defaults. The protocol is one of them, but also part of the key by which ports
	// are told apart when they are applied.
	spec.Ports[0].Protocol = corev1.ProtocolTCP
	service := &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta(source, ServiceName(source.Name), map[string]string{
			v1alpha1.ServiceSpecHashLabel: hash,
			v1alpha1.ManagedLabel:         v1alpha1.ManagedLabelValue,
		}),
		Spec: spec,
	}
	// What the pod runs as.
	account := &corev1.ServiceAccount{
		TypeMeta:         metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:       meta(source, source.Name, managed()),
		ImagePullSecrets: pullSecrets(source, nil),
	}
	account.OwnerReferences = []metav1.OwnerReference{owner(source, true)}
	var names []string
	for _, s := range account.ImagePullSecrets {
		names = append(names, s.Name)
	}
	if len(names) > 0 {
		account.Annotations = map[string]string{PullSecretsAnnotation: strings.Join(names, ",")}
	}
	// Open the port of the server to its clients, and nothing else: the server may call no one.
	p := networkPolicy(source, serverPolicy, metav1.LabelSelector{MatchLabels: selector(source)})
	from := clients(source.Namespace, settings)
	if from != nil {
		// The pod of an update has the empty value until it serves, and its content is as private.
		p.Spec.PodSelector = metav1.LabelSelector{
			MatchLabels: managed(),
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: v1alpha1.CatalogSourceLabel, Operator: metav1.LabelSelectorOpIn,
				Values: []string{LabelValue(source.Name), ""}}},
		}
	}
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{From: from, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, Port)}}}
	// The manager unpacks bundles itself, but the policy for pods that do is part of what a catalog in a pod has always come with.
	unpack := networkPolicy(source, unpackPolicy, metav1.LabelSelector{
		MatchLabels:      managed(),
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: v1alpha1.BundleUnpackRefLabel, Operator: metav1.LabelSelectorOpExists}},
	})
	unpack.Spec.Egress = anywhere()
	return &Objects{Service: service, ServiceAccount: account, ServerPolicy: p, UnpackPolicy: unpack}, nil
}

// companions lists all of the objects but the pod, in the order in which they are written.
func (o *Objects) companions() []client.Object {
	return []client.Object{o.ServiceAccount, o.ServerPolicy, o.UnpackPolicy, o.Service}
}

// meta is what the metadata of all objects have in common.
func meta(source *v1alpha1.CatalogSource, name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: source.Namespace, Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner(source, false)}}
}

// owner refers to the catalog, as the controller of what is made for it.
func owner(source *v1alpha1.CatalogSource, blocking bool) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: kindCatalogSource, Name: source.Name, UID: source.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(blocking),
	}
}

const kindCatalogSource = "CatalogSource"

// selector picks the pod that serves the catalog. Pods of updates are not picked, because another value is on them.
func selector(source *v1alpha1.CatalogSource) map[string]string {
	return map[string]string{
		v1alpha1.CatalogSourceLabel: LabelValue(source.Name),
		v1alpha1.ManagedLabel:       v1alpha1.ManagedLabelValue,
	}
}

func failed(source *v1alpha1.CatalogSource, err error) error {
	return fmt.Errorf("make the pod of CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
}

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

// networkPolicy is a policy for both directions, which allows nothing yet.
func networkPolicy(source *v1alpha1.CatalogSource, suffix string, pods metav1.LabelSelector) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
		ObjectMeta: meta(source, objectName(source.Name, suffix), selector(source)),
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

// ServiceStatus is status.registryService of a catalog that the pod serves.
func ServiceStatus(source *v1alpha1.CatalogSource, created metav1.Time) *v1alpha1.RegistryServiceStatus {
	return &v1alpha1.RegistryServiceStatus{
		Protocol:         portName,
		ServiceName:      ServiceName(source.Name),
		ServiceNamespace: source.Namespace,
		Port:             portText,
		CreatedAt:        created,
	}
}

// portText is Port as statuses have it.
const portText = "50051"

// PullSecretsAnnotation lists, on the service account of a pod, the pull secrets that the catalog brought, so that they can
// be told from those that others added.
const PullSecretsAnnotation = "operators.fairlead.dev/pull-secrets"

func managed() map[string]string {
	return map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}
}
