package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OperatorGroup says which namespaces the operators of its namespace watch. The stored version is v1.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=og,categories=olm
type OperatorGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// +optional
	Spec OperatorGroupSpec `json:"spec,omitempty"`
	// +optional
	Status OperatorGroupStatus `json:"status,omitzero"`
}

// OperatorGroupList is a list of OperatorGroups.
//
// +kubebuilder:object:root=true
type OperatorGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []OperatorGroup `json:"items"`
}

// OperatorGroupSpec selects the target namespaces.
type OperatorGroupSpec struct {
	// selector selects the target namespaces by label. Without selector and targetNamespaces it is all namespaces.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// targetNamespaces are the target namespaces; they win over selector.
	// +optional
	// +listType=set
	TargetNamespaces []string `json:"targetNamespaces,omitempty"`
	// serviceAccountName limits what the operators of the group may install.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// staticProvidedAPIs keeps the provided APIs of the group as they are annotated.
	// +optional
	StaticProvidedAPIs bool `json:"staticProvidedAPIs,omitempty"`
}

// OperatorGroupStatus is the outcome of the selection.
type OperatorGroupStatus struct {
	// namespaces are the target namespaces; one empty name stands for all.
	// +optional
	// +listType=set
	Namespaces []string `json:"namespaces,omitempty"`
	// serviceAccountRef is the service account that the operators of the group are installed with.
	// +optional
	ServiceAccountRef *corev1.ObjectReference `json:"serviceAccountRef,omitempty"`
	// lastUpdated is when the status was last written.
	LastUpdated *metav1.Time `json:"lastUpdated"`
}
