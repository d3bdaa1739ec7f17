package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterCatalog makes a file-based catalog available to the cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:metadata:annotations="olm.operatorframework.io/generator=experimental"
// +kubebuilder:printcolumn:name="LastUnpacked",type=date,JSONPath=`.status.lastUnpacked`
// +kubebuilder:printcolumn:name="Serving",type=string,JSONPath=`.status.conditions[?(@.type=='Serving')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type ClusterCatalog struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec ClusterCatalogSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status ClusterCatalogStatus `json:"status,omitzero"`
}

// ClusterCatalogList is a list of ClusterCatalogs.
//
// +kubebuilder:object:root=true
type ClusterCatalogList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterCatalog `json:"items"`
}

// CatalogSourceType says where the content of a catalog comes from.
//
// +kubebuilder:validation:Enum=Image
type CatalogSourceType string

// CatalogSourceTypeImage means that the content comes from an image.
const CatalogSourceTypeImage CatalogSourceType = "Image"

// AvailabilityMode says whether a catalog is to be served.
//
// +kubebuilder:validation:Enum=Available;Unavailable
type AvailabilityMode string

// Availability modes.
const (
	// AvailabilityModeAvailable serves the catalog.
	AvailabilityModeAvailable AvailabilityMode = "Available"
	// AvailabilityModeUnavailable neither serves the catalog nor keeps its content.
	AvailabilityModeUnavailable AvailabilityMode = "Unavailable"
)

// ClusterCatalogSpec says where the content of a catalog comes from.
type ClusterCatalogSpec struct {
	// source says where the content comes from.
	Source CatalogSource `json:"source"`

	// priority decides between catalogs that offer the same; the higher one is preferred.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=-2147483648
	// +kubebuilder:validation:Maximum=2147483647
	Priority int32 `json:"priority"`

	// availabilityMode says whether the catalog is to be served.
	// +optional
	// +kubebuilder:default=Available
	AvailabilityMode AvailabilityMode `json:"availabilityMode,omitempty"`
}

// CatalogSource says where the content of a catalog comes from.
//
// +kubebuilder:validation:XValidation:rule="has(self.type) && self.type == 'Image' ? has(self.image) : !has(self.image)",message="image is required when type is Image, and forbidden otherwise"
type CatalogSource struct {
	// type is Image.
	Type CatalogSourceType `json:"type"`
	// image holds the content.
	// +optional
	Image *ImageSource `json:"image,omitempty"`
}

// ImageSource is an image that holds a catalog.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pollIntervalMinutes) || !self.ref.contains('@')",message="cannot specify pollIntervalMinutes while using digest-based image"
type ImageSource struct {
	// ref is the image, with a domain and a tag or a digest: quay.io/example/catalog:v1.
	//
	// +kubebuilder:validation:MaxLength=1000
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:[0-9]+)?/')",message="must start with a valid domain: letters, digits, hyphens and dots, and optionally a port"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/]+(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)+([:@]|$)')",message="a valid name is required: lower case letters and digits, joined by periods, underscores or hyphens, in parts joined by slashes"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/]+/[^:@]+(:[^/@]+|@[^:]+:.+|:[^/@]+@[^:]+:.+)$')",message="must end with a digest or a tag"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/]+/[^:@]+:') || self.matches('^[^/]+/[^:@]+:[^@]{1,127}(@|$)')",message="the tag must not be more than 127 characters"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^[^/]+/[^:@]+:') || self.matches('^[^/]+/[^:@]+:[A-Za-z0-9_][A-Za-z0-9_.-]*(@|$)')",message="the tag is invalid: letters, digits, underscores, and after the first character periods and hyphens"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') || self.matches('@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:')",message="the digest algorithm is invalid: it has to begin with a letter"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') || self.matches('@[^:]+:[^:@]{32,}$')",message="the encoded part of the digest must be at least 32 characters"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') || self.matches('@[^:]+:[0-9A-Fa-f]*$')",message="the encoded part of the digest must be hexadecimal"
	Ref string `json:"ref"`

	// pollIntervalMinutes is how often a new image is looked for; never when absent. It needs a tag.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	PollIntervalMinutes *int `json:"pollIntervalMinutes,omitempty"`
}
