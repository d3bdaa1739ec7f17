package grpccatalog

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// service is what clients of the catalog's gRPC API dial.
func service(source *v1alpha1.CatalogSource) (*corev1.Service, error) {
	spec := corev1.ServiceSpec{
		Ports:    []corev1.ServicePort{{Name: portName, Port: Port, TargetPort: intstr.FromInt32(Port)}},
		Selector: selector(source),
	}
	hash, err := bundle.Hash62(spec)
	if err != nil {
		return nil, err
	}
	// The hash is of the spec before the API server's defaults. The protocol is one of them, but also part of the key by which ports
	// are told apart when they are applied.
	spec.Ports[0].Protocol = corev1.ProtocolTCP
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta(source, ServiceName(source.Name), map[string]string{
			v1alpha1.ServiceSpecHashLabel: hash,
			v1alpha1.ManagedLabel:         v1alpha1.ManagedLabelValue,
		}),
		Spec: spec,
	}, nil
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

// serviceAccount is what the pod runs as.
func serviceAccount(source *v1alpha1.CatalogSource) *corev1.ServiceAccount {
	account := &corev1.ServiceAccount{
		TypeMeta:         metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:       meta(source, source.Name, managed()),
		ImagePullSecrets: pullSecrets(source, nil),
	}
	account.OwnerReferences = []metav1.OwnerReference{owner(source, true)}
	if names := secretNames(account.ImagePullSecrets); len(names) > 0 {
		account.Annotations = map[string]string{PullSecretsAnnotation: strings.Join(names, ",")}
	}
	return account
}

// keepForeign adds the pull secrets that others put on the live service account: the list has one owner, and taking it away from
// the controller of a registry would lead to both writing it for ever.
func keepForeign(wanted, live *corev1.ServiceAccount) {
	brought := strings.Split(live.Annotations[PullSecretsAnnotation], ",")
	for _, secret := range live.ImagePullSecrets {
		if !slices.Contains(brought, secret.Name) {
			wanted.ImagePullSecrets = addSecret(wanted.ImagePullSecrets, secret.Name)
		}
	}
}

func secretNames(secrets []corev1.LocalObjectReference) []string {
	var names []string
	for _, s := range secrets {
		names = append(names, s.Name)
	}
	return names
}

func managed() map[string]string {
	return map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue}
}
