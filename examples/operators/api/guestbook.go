package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Guestbook welcomes a guest with a Greeting, which another operator makes.
//
// +kubebuilder:object:root=true
type Guestbook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GuestbookSpec   `json:"spec"`
	Status GuestbookStatus `json:"status,omitempty"`
}

// GuestbookSpec says who is welcome, and where.
type GuestbookSpec struct {
	// Guest is who is greeted.
	Guest string `json:"guest"`
	// Title is written before the greeting, since version 1.1.0.
	Title string `json:"title,omitempty"`
	// Style is the style of the Greeting, since version 1.2.0.
	Style Style `json:"style,omitempty"`
}

// GuestbookStatus is what came of a Guestbook.
type GuestbookStatus struct {
	// ObservedGeneration is the generation of the spec that this status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Entry is the title and the text of the Greeting.
	Entry string `json:"entry,omitempty"`
	// Conditions has Ready.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GuestbookList is a list of Guestbooks.
//
// +kubebuilder:object:root=true
type GuestbookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Guestbook `json:"items"`
}
