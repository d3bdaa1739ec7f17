package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Greeting asks for a ConfigMap with a greeting in it.
//
// +kubebuilder:object:root=true
type Greeting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GreetingSpec   `json:"spec"`
	Status GreetingStatus `json:"status,omitempty"`
}

// GreetingSpec says whom to greet, and how.
type GreetingSpec struct {
	// Name is who is greeted.
	Name string `json:"name"`
	// Style is the tone: Plain, which is the default, Cheerful or, since version 1.2.0, Formal.
	Style Style `json:"style,omitempty"`
}

// Style is the tone of a greeting.
type Style string

// The styles.
const (
	Plain    Style = "Plain"
	Cheerful Style = "Cheerful"
	Formal   Style = "Formal"
)

// GreetingStatus is what came of a Greeting.
type GreetingStatus struct {
	// ObservedGeneration is the generation of the spec that this status is about.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Text is the greeting, as it is in the ConfigMap of the same name.
	Text string `json:"text,omitempty"`
	// Conditions has Ready.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GreetingList is a list of Greetings.
//
// +kubebuilder:object:root=true
type GreetingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Greeting `json:"items"`
}
