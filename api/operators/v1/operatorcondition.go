package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OperatorCondition is where an operator reports whether it can be upgraded. This version is served for operators
// that write status.conditions, or spec.conditions as in the documents; v2 is the stored one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=condition,categories=olm
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Upgradeable",type=string,JSONPath=`.status.conditions[?(@.type=='Upgradeable')].status`,description="Whether the operator says that it can be upgraded"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Upgradeable')].reason`
type OperatorCondition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// +optional
	Spec OperatorConditionSpec `json:"spec,omitzero"`
	// +optional
	Status OperatorConditionStatus `json:"status,omitzero"`
}

// OperatorConditionList is a list of OperatorConditions.
//
// +kubebuilder:object:root=true
type OperatorConditionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []OperatorCondition `json:"items"`
}

// OperatorConditionSpec says who may report, what is reported and what an administrator overrides.
type OperatorConditionSpec struct {
	// serviceAccounts may write the object.
	// +optional
	ServiceAccounts []string `json:"serviceAccounts,omitempty"`
	// deployments are told the name of the object.
	// +optional
	Deployments []string `json:"deployments,omitempty"`
	// overrides win over what the operator reports.
	// +optional
	Overrides []metav1.Condition `json:"overrides,omitempty"`
	// conditions are what the operator reports.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// OperatorConditionStatus is what the operator reports.
type OperatorConditionStatus struct {
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
