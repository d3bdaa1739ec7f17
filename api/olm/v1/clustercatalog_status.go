package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterCatalogStatus is what the manager observed about a ClusterCatalog.
type ClusterCatalogStatus struct {
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the latest observations: Ready with Reconciling or Stalled, Progressing and Serving.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// resolvedSource is the content that is served.
	// +optional
	ResolvedSource *ResolvedCatalogSource `json:"resolvedSource,omitempty"`

	// urls are where the content is served.
	// +optional
	URLs *ClusterCatalogURLs `json:"urls,omitempty"`

	// lastUnpacked is when the served content was fetched.
	// +optional
	LastUnpacked *metav1.Time `json:"lastUnpacked,omitempty"`
}

// ClusterCatalogURLs are where the content of a catalog is served.
type ClusterCatalogURLs struct {
	// base is the URL to which clients append paths such as /api/v1/all.
	//
	// +kubebuilder:validation:MaxLength=525
	// +kubebuilder:validation:XValidation:rule="isURL(self)",message="must be a valid URL"
	// +kubebuilder:validation:XValidation:rule="!isURL(self) || url(self).getScheme() in ['http', 'https']",message="scheme must be either http or https"
	Base string `json:"base"`
}

// ResolvedCatalogSource is the content that is served.
//
// +kubebuilder:validation:XValidation:rule="has(self.type) && self.type == 'Image' ? has(self.image) : !has(self.image)",message="image is required when type is Image, and forbidden otherwise"
type ResolvedCatalogSource struct {
	// type is Image.
	Type CatalogSourceType `json:"type"`
	// image is the image that the content came from.
	Image *ResolvedImageSource `json:"image"`
}

// ResolvedImageSource is an image by digest.
type ResolvedImageSource struct {
	// ref is the image by digest.
	//
	// +kubebuilder:validation:MaxLength=1000
	// +kubebuilder:validation:XValidation:rule="self.matches('^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:[0-9]+)?/')",message="must start with a valid domain: letters, digits, hyphens and dots, and optionally a port"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/]+(/[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*)+([:@]|$)')",message="a valid name is required: lower case letters and digits, joined by periods, underscores or hyphens, in parts joined by slashes"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[^/]+/[^:@]+@[^:]+:.+$')",message="must end with a digest"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') || self.matches('@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:')",message="the digest algorithm is invalid: it has to begin with a letter"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') || self.matches('@[^:]+:[^:@]{32,}$')",message="the encoded part of the digest must be at least 32 characters"
	// +kubebuilder:validation:XValidation:rule="!self.contains('@') || self.matches('@[^:]+:[0-9A-Fa-f]*$')",message="the encoded part of the digest must be hexadecimal"
	Ref string `json:"ref"`
}
