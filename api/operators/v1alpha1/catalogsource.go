package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CatalogSource is a catalog of operators.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=catsrc,categories=olm
// +kubebuilder:printcolumn:name="Display",type=string,JSONPath=`.spec.displayName`,description="Name of the catalog for people"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.sourceType`,description="Where the content comes from"
// +kubebuilder:printcolumn:name="Publisher",type=string,JSONPath=`.spec.publisher`,description="Publisher of the catalog"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type CatalogSource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec CatalogSourceSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status CatalogSourceStatus `json:"status,omitzero"`
}

// CatalogSourceList is a list of CatalogSources.
//
// +kubebuilder:object:root=true
type CatalogSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CatalogSource `json:"items"`
}

// SourceType says where the content of a catalog comes from.
type SourceType string

// Source types.
const (
	// SourceTypeGrpc is an image, or the address of a registry server.
	SourceTypeGrpc SourceType = "grpc"
	// SourceTypeConfigmap is a ConfigMap.
	SourceTypeConfigmap SourceType = "configmap"
	// SourceTypeInternal is an old name of configmap.
	SourceTypeInternal SourceType = "internal"
)

// CatalogSourceSpec says where the content of a catalog comes from and how it is kept up to date.
type CatalogSourceSpec struct {
	// sourceType is grpc, configmap or internal (an old name of configmap).
	SourceType SourceType `json:"sourceType"`
	// priority orders catalogs that offer the same; the higher one is preferred.
	// +optional
	Priority int `json:"priority,omitempty"`
	// configMap is the name of the ConfigMap with the content.
	// +optional
	ConfigMap string `json:"configMap,omitempty"`
	// address is host:port of a registry server. It is ignored when image is set.
	// +optional
	Address string `json:"address,omitempty"`
	// image holds the content.
	// +optional
	Image string `json:"image,omitempty"`
	// grpcPodConfig is for the pod of the catalog, where one is run.
	// +optional
	GrpcPodConfig *GrpcPodConfig `json:"grpcPodConfig,omitempty"`
	// updateStrategy says how often a new image is looked for.
	// +optional
	UpdateStrategy *UpdateStrategy `json:"updateStrategy,omitempty"`
	// secrets are the names of pull secrets in the catalog's namespace.
	// +optional
	Secrets []string `json:"secrets,omitempty"`
	// displayName is the name of the catalog for people.
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// +optional
	Description string `json:"description,omitempty"`
	// +optional
	Publisher string `json:"publisher,omitempty"`
	// +optional
	Icon Icon `json:"icon,omitzero"`
}

// SecurityConfig is a security profile of a catalog pod.
//
// +kubebuilder:validation:Enum=legacy;restricted
type SecurityConfig string

// Security profiles.
const (
	// Legacy runs the catalog pod with the defaults of the cluster.
	Legacy SecurityConfig = "legacy"
	// Restricted runs the catalog pod so that the restricted Pod Security Standard admits it.
	Restricted SecurityConfig = "restricted"
)

// GrpcPodConfig is for the pod of a catalog.
type GrpcPodConfig struct {
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// priorityClassName may be empty, which takes the default away.
	// +optional
	PriorityClassName *string `json:"priorityClassName,omitempty"`
	// securityContextConfig is legacy or restricted.
	// +optional
	SecurityContextConfig SecurityConfig `json:"securityContextConfig,omitempty"`
	// memoryTarget is the memory that the registry server aims to stay within.
	// +optional
	MemoryTarget *resource.Quantity `json:"memoryTarget,omitempty"`
	// extractContent takes the content out of the image instead of running its server.
	// +optional
	ExtractContent *ExtractContentConfig `json:"extractContent,omitempty"`
}

// ExtractContentConfig says where an image holds a catalog.
type ExtractContentConfig struct {
	// cacheDir is the directory with the prebuilt cache.
	// +optional
	CacheDir string `json:"cacheDir,omitempty"`
	// catalogDir is the directory with the file-based catalog.
	CatalogDir string `json:"catalogDir"`
}
