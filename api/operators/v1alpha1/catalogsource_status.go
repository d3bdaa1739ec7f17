package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Reasons of a CatalogSource's status.
const (
	CatalogSourceSpecInvalidError     ConditionReason = "SpecInvalidError"
	CatalogSourceConfigMapError       ConditionReason = "ConfigMapError"
	CatalogSourceRegistryServerError  ConditionReason = "RegistryServerError"
	CatalogSourceIntervalInvalidError ConditionReason = "InvalidIntervalError"
)

// CatalogSourceSignatureVerified is the condition that reports who signed the content, or why the signature policy refuses it. It is absent
// where no policy is configured. Its reasons are those of a ClusterCatalog.
const CatalogSourceSignatureVerified = "SignatureVerified"

// CatalogSourceStatus is what the manager observed about a CatalogSource.
type CatalogSourceStatus struct {
	// message says for people what is wrong.
	// +optional
	Message string `json:"message,omitempty"`
	// reason says in one word what is wrong.
	// +optional
	Reason ConditionReason `json:"reason,omitempty"`
	// latestImageRegistryPoll is when a new image was last looked for.
	// +optional
	LatestImageRegistryPoll *metav1.Time `json:"latestImageRegistryPoll,omitempty"`
	// configMapReference is the ConfigMap that is being served.
	// +optional
	ConfigMapResource *ConfigMapResourceReference `json:"configMapReference,omitempty"`
	// registryService is the Service that serves the catalog.
	// +optional
	RegistryServiceStatus *RegistryServiceStatus `json:"registryService,omitempty"`
	// connectionState is the state of the connection to the catalog.
	// +optional
	GRPCConnectionState *GRPCConnectionState `json:"connectionState,omitempty"`
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are the latest observations of the catalog.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConfigMapResourceReference is the ConfigMap that is being served.
type ConfigMapResourceReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// +optional
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// +optional
	LastUpdateTime metav1.Time `json:"lastUpdateTime,omitzero"`
}

// RegistryServiceStatus is the Service that serves a catalog.
type RegistryServiceStatus struct {
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// +optional
	ServiceName string `json:"serviceName,omitempty"`
	// +optional
	ServiceNamespace string `json:"serviceNamespace,omitempty"`
	// +optional
	Port string `json:"port,omitempty"`
	// +optional
	CreatedAt metav1.Time `json:"createdAt,omitzero"`
}

// GRPCConnectionState is the state of the connection to a catalog.
type GRPCConnectionState struct {
	// +optional
	Address string `json:"address,omitempty"`
	// lastObservedState is a gRPC connectivity state such as READY.
	LastObservedState string `json:"lastObservedState"`
	// +optional
	LastConnectTime metav1.Time `json:"lastConnect,omitzero"`
}

// Address is where the catalog's registry server is dialled: spec.address if set, else the Service of the status.
// It is empty while neither is known.
func (c *CatalogSource) Address() string {
	if c.Spec.Address != "" {
		return c.Spec.Address
	}
	return c.Status.RegistryServiceStatus.Address()
}

// Address is <serviceName>.<serviceNamespace>.svc:<port>, and empty for a nil status.
func (s *RegistryServiceStatus) Address() string {
	if s == nil {
		return ""
	}
	return s.ServiceName + "." + s.ServiceNamespace + ".svc:" + s.Port
}
