package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Operator shows the components of an installed operator in one place.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=olm
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="CSV",type=string,JSONPath=`.status.components.refs[?(@.kind=='ClusterServiceVersion')].name`,description="First ClusterServiceVersion among the components"
type Operator struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec OperatorSpec `json:"spec,omitempty"`
	// +optional
	Status OperatorStatus `json:"status,omitzero"`
}

// OperatorList is a list of Operators.
//
// +kubebuilder:object:root=true
type OperatorList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Operator `json:"items"`
}

// OperatorSpec is empty.
type OperatorSpec struct{}

// OperatorStatus lists the components.
type OperatorStatus struct {
	// components are the objects that make up the operator.
	// +optional
	Components *Components `json:"components,omitempty"`
}

// Components are the objects that make up an operator.
type Components struct {
	// labelSelector selects the components.
	LabelSelector *metav1.LabelSelector `json:"labelSelector"`
	// refs are the components.
	// +optional
	Refs []RichReference `json:"refs,omitempty"`
}

// RichReference is a reference to an object with the object's conditions.
type RichReference struct {
	corev1.ObjectReference `json:",inline"`
	// conditions are those of the object.
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
}

// Condition is a condition of a component.
type Condition struct {
	// type is the condition type; phase for the phase of a ClusterServiceVersion.
	Type   string                 `json:"type"`
	Status corev1.ConditionStatus `json:"status"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}
