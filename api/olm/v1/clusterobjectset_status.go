package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterObjectSetStatus is how far a revision got.
type ClusterObjectSetStatus struct {
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the latest observations: Ready with Reconciling or Stalled, Progressing, Available and Succeeded.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedPhases are the digests of the phases when they were first seen. They cannot change once set.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self == oldSelf || oldSelf.size() == 0",message="observedPhases is immutable"
	ObservedPhases []ObservedPhase `json:"observedPhases,omitempty"`
}

// ObservedPhase is the digest of a phase when it was first seen.
type ObservedPhase struct {
	// name of the phase.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// digest of the phase's objects: <algorithm>:<hexadecimal>.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]+:[0-9a-f]+$')",message="digest must be an algorithm and a hexadecimal number, joined by a colon"
	Digest string `json:"digest"`
}
