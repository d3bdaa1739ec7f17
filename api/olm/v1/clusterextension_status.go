package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterExtensionStatus is what the manager observed about a ClusterExtension.
type ClusterExtensionStatus struct {
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the latest observations: Ready with Reconciling or Stalled, Installed, Progressing, Available, and the
	// deprecation of the extension's package, channel and bundle.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// install is what is installed.
	// +optional
	Install *ClusterExtensionInstallStatus `json:"install,omitempty"`

	// activeRevisions are the revisions that are not archived: the installed one first, then those that roll out.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	ActiveRevisions []RevisionStatus `json:"activeRevisions,omitempty"`
}

// ClusterExtensionInstallStatus is what is installed.
type ClusterExtensionInstallStatus struct {
	// bundle is the installed bundle.
	Bundle BundleMetadata `json:"bundle"`
}

// BundleMetadata names a bundle.
type BundleMetadata struct {
	// name of the bundle.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="name must be a valid DNS1123 subdomain"
	Name string `json:"name"`

	// version of the bundle.
	//
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]+(\\\\.[0-9]+){0,2}(-[0-9A-Za-z-]+(\\\\.[0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+(\\\\.[0-9A-Za-z-]+)*)?$')",message="version must be well-formed semver"
	Version string `json:"version"`

	// release of the bundle. It is absent when the bundle says nothing of a release, and empty when the bundle says
	// that it has none.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[0-9A-Za-z-]+(\\\\.[0-9A-Za-z-]+)*$')",message="release must be identifiers of letters, digits and hyphens, joined by dots"
	Release *string `json:"release,omitempty"`
}

// RevisionStatus is one revision of an extension.
type RevisionStatus struct {
	// name of the revision's ClusterObjectSet.
	Name string `json:"name"`

	// conditions are those of a revision that rolls out.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
