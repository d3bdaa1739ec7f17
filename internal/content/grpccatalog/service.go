package grpccatalog

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
