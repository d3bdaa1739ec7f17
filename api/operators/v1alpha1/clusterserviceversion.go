package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterServiceVersion describes one version of an operator: what it needs, what it provides and how to run it.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName={csv,csvs},categories=olm
// +kubebuilder:printcolumn:name="Display",type=string,JSONPath=`.spec.displayName`,description="Name of the operator for people"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.spec.version`,description="Version of the operator"
// +kubebuilder:printcolumn:name="Release",type=string,JSONPath=`.spec.release`,description="Release of the version"
// +kubebuilder:printcolumn:name="Replaces",type=string,JSONPath=`.spec.replaces`,description="ClusterServiceVersion that this one replaces"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Ready",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.reason`
type ClusterServiceVersion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec ClusterServiceVersionSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status ClusterServiceVersionStatus `json:"status,omitzero"`
}

// ClusterServiceVersionList is a list of ClusterServiceVersions.
//
// +kubebuilder:object:root=true
type ClusterServiceVersionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterServiceVersion `json:"items"`
}

// ClusterServiceVersionSpec is what the author of an operator declares about one version of it.
type ClusterServiceVersionSpec struct {
	// install says how the operator is run.
	InstallStrategy NamedInstallStrategy `json:"install"`

	// version is the semantic version of the operator.
	// +optional
	Version OperatorVersion `json:"version,omitempty"`

	// release tells apart several publications of one version: dot separated identifiers, ordered like the
	// pre-release part of a semantic version.
	// +optional
	Release OperatorRelease `json:"release,omitzero"`

	// maturity is a free text such as alpha, beta or stable.
	// +optional
	Maturity string `json:"maturity,omitempty"`

	// customresourcedefinitions are the CRDs that the operator owns and those that it requires.
	// +optional
	CustomResourceDefinitions CustomResourceDefinitions `json:"customresourcedefinitions,omitzero"`

	// apiservicedefinitions are the aggregated APIs that the operator owns and those that it requires.
	// +optional
	APIServiceDefinitions APIServiceDefinitions `json:"apiservicedefinitions,omitzero"`

	// webhookdefinitions are the admission and conversion webhooks that the operator serves.
	// +optional
	WebhookDefinitions []WebhookDescription `json:"webhookdefinitions,omitempty"`

	// nativeAPIs are APIs that the cluster has to serve, no matter who provides them.
	// +optional
	NativeAPIs []metav1.GroupVersionKind `json:"nativeAPIs,omitempty"`

	// minKubeVersion is the lowest Kubernetes version that the operator works with.
	// +optional
	MinKubeVersion string `json:"minKubeVersion,omitempty"`

	// displayName is the name of the operator for people.
	DisplayName string `json:"displayName"`

	// description is a text for people, in Markdown.
	// +optional
	Description string `json:"description,omitempty"`

	// keywords help to find the operator.
	// +optional
	Keywords []string `json:"keywords,omitempty"`

	// maintainers can be contacted about the operator.
	// +optional
	Maintainers []Maintainer `json:"maintainers,omitempty"`

	// provider publishes the operator.
	// +optional
	Provider AppLink `json:"provider,omitzero"`

	// links lead to more about the operator.
	// +optional
	Links []AppLink `json:"links,omitempty"`

	// icon is shown for the operator.
	// +optional
	Icon []Icon `json:"icon,omitempty"`

	// installModes are the sets of target namespaces that the operator can watch.
	// +optional
	InstallModes []InstallMode `json:"installModes,omitempty"`

	// replaces is the name of the ClusterServiceVersion that this one replaces.
	// +optional
	Replaces string `json:"replaces,omitempty"`

	// skips are names of ClusterServiceVersions that an upgrade to this one may jump over. Catalogs read it.
	// +optional
	Skips []string `json:"skips,omitempty"`

	// labels are for people and tools that organise operators.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations hold unstructured facts of the operator.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// selector names the resources that belong to the operator by label.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// cleanup says whether the custom resources of the operator go when it is deleted.
	// +optional
	Cleanup CleanupSpec `json:"cleanup,omitzero"`

	// relatedImages are the images that the operator may run. Catalogs read it.
	// +optional
	RelatedImages []RelatedImage `json:"relatedImages,omitempty"`
}

// Maintainer is a person or group that looks after an operator.
//
// +k8s:openapi-gen=true
type Maintainer struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Email string `json:"email,omitempty"`
}

// AppLink is a name with an address.
//
// +k8s:openapi-gen=true
type AppLink struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	URL string `json:"url,omitempty"`
}

// Icon is an image, base64 encoded.
//
// +k8s:openapi-gen=true
type Icon struct {
	Data      string `json:"base64data"`
	MediaType string `json:"mediatype"`
}

// CleanupSpec says whether deleting the operator deletes its custom resources first.
type CleanupSpec struct {
	Enabled bool `json:"enabled"`
}

// RelatedImage is an image that the operator may run.
type RelatedImage struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Image string `json:"image,omitempty"`
}
