package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProgressionProbe says when the objects that it selects are available.
type ProgressionProbe struct {
	// selector selects the objects.
	Selector ObjectSelector `json:"selector"`

	// assertions have to hold for each of the objects.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Assertions []Assertion `json:"assertions"`
}

// SelectorType says how a probe selects objects.
//
// +kubebuilder:validation:Enum=GroupKind;Label
type SelectorType string

// Selector types.
const (
	SelectorTypeGroupKind SelectorType = "GroupKind"
	SelectorTypeLabel     SelectorType = "Label"
)

// ObjectSelector selects objects by kind or by label.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'GroupKind' ? has(self.groupKind) : !has(self.groupKind)",message="groupKind is required when type is GroupKind, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="self.type == 'Label' ? has(self.label) : !has(self.label)",message="label is required when type is Label, and forbidden otherwise"
type ObjectSelector struct {
	// type is GroupKind or Label.
	Type SelectorType `json:"type"`
	// groupKind selects the objects of a kind.
	// +optional
	GroupKind *metav1.GroupKind `json:"groupKind,omitempty"`
	// label selects objects by label: either with matchLabels or with matchExpressions.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="(has(self.matchExpressions) && !has(self.matchLabels)) || (!has(self.matchExpressions) && has(self.matchLabels))",message="exactly one of matchLabels or matchExpressions must be set"
	Label *metav1.LabelSelector `json:"label,omitempty"`
}

// AssertionType says what an assertion checks.
//
// +kubebuilder:validation:Enum=ConditionEqual;FieldsEqual;FieldValue
type AssertionType string

// Assertion types.
const (
	// AssertionTypeConditionEqual compares the status of a condition.
	AssertionTypeConditionEqual AssertionType = "ConditionEqual"
	// AssertionTypeFieldsEqual compares two fields with each other.
	AssertionTypeFieldsEqual AssertionType = "FieldsEqual"
	// AssertionTypeFieldValue compares a field with a value.
	AssertionTypeFieldValue AssertionType = "FieldValue"
)

// Assertion is one check of an object.
//
// +kubebuilder:validation:XValidation:rule="self.type == 'ConditionEqual' ? has(self.conditionEqual) : !has(self.conditionEqual)",message="conditionEqual is required when type is ConditionEqual, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="self.type == 'FieldsEqual' ? has(self.fieldsEqual) : !has(self.fieldsEqual)",message="fieldsEqual is required when type is FieldsEqual, and forbidden otherwise"
// +kubebuilder:validation:XValidation:rule="self.type == 'FieldValue' ? has(self.fieldValue) : !has(self.fieldValue)",message="fieldValue is required when type is FieldValue, and forbidden otherwise"
type Assertion struct {
	// type is ConditionEqual, FieldsEqual or FieldValue.
	Type AssertionType `json:"type"`
	// conditionEqual holds when a condition has a status.
	// +optional
	ConditionEqual *ConditionEqualProbe `json:"conditionEqual,omitempty"`
	// fieldsEqual holds when two fields are equal.
	// +optional
	FieldsEqual *FieldsEqualProbe `json:"fieldsEqual,omitempty"`
	// fieldValue holds when a field has a value.
	// +optional
	FieldValue *FieldValueProbe `json:"fieldValue,omitempty"`
}

// ConditionEqualProbe holds when a condition has a status.
type ConditionEqualProbe struct {
	// type of the condition.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Type string `json:"type"`
	// status is True or False.
	//
	// +kubebuilder:validation:Enum=True;False
	Status string `json:"status"`
}

// FieldsEqualProbe holds when two fields are equal.
type FieldsEqualProbe struct {
	// fieldA is a path such as spec.replicas.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)*$`
	FieldA string `json:"fieldA"`
	// fieldB is a path such as status.readyReplicas.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)*$`
	FieldB string `json:"fieldB"`
}

// FieldValueProbe holds when a field has a value.
type FieldValueProbe struct {
	// fieldPath is a path such as status.phase.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9]+(?:\.[a-zA-Z0-9]+)*$`
	FieldPath string `json:"fieldPath"`
	// value that the field has to have, as text.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Value string `json:"value"`
}
