package grpccatalog

import (
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
