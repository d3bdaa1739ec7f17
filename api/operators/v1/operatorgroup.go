package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OperatorGroup says which namespaces the operators of its namespace watch.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=og,categories=olm
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Targets",type=string,JSONPath=`.status.namespaces`,description="Namespaces that the operators watch; one empty name stands for all"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type OperatorGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// +optional
	// +kubebuilder:default={upgradeStrategy:Default}
	Spec OperatorGroupSpec `json:"spec,omitempty"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1,lastUpdated:"1970-01-01T00:00:00Z"}
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

// UpgradeStrategy says when a ClusterServiceVersion may be replaced.
//
// +kubebuilder:validation:Enum=Default;TechPreviewUnsafeFailForward
type UpgradeStrategy string

// Upgrade strategies.
const (
	// UpgradeStrategyDefault means that only a version that runs may be replaced.
	UpgradeStrategyDefault UpgradeStrategy = "Default"
	// UpgradeStrategyUnsafeFailForward means that a failed version may be replaced as well.
	UpgradeStrategyUnsafeFailForward UpgradeStrategy = "TechPreviewUnsafeFailForward"
)

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
	// upgradeStrategy says when a version may be replaced.
	// +optional
	// +kubebuilder:default=Default
	UpgradeStrategy UpgradeStrategy `json:"upgradeStrategy,omitempty"`
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
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions are the latest observations of the group.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Condition types and reasons of an OperatorGroup.
const (
	// OperatorGroupMultiple is True when the namespace has several OperatorGroups.
	OperatorGroupMultiple       = "MultipleOperatorGroup"
	OperatorGroupReasonMultiple = "MultipleOperatorGroupsFound"

	// OperatorGroupServiceAccount is True when something is wrong with the named service account.
	OperatorGroupServiceAccount               = "OperatorGroupServiceAccount"
	OperatorGroupReasonServiceAccountNotFound = "ServiceAccountNotFound"
)

// IsSelected reports whether a controller has selected the target namespaces, of this generation or of one before.
func (s *OperatorGroupStatus) IsSelected() bool {
	return s.LastUpdated != nil && s.ObservedGeneration >= 0
}

// FailForward says whether failed versions may be replaced.
func (g *OperatorGroup) FailForward() bool {
	return g.Spec.UpgradeStrategy == UpgradeStrategyUnsafeFailForward
}
