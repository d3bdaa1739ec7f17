package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ClusterObjectSet is one revision of an extension: its objects in phases, and how they are rolled out.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:metadata:annotations="olm.operatorframework.io/generator=experimental"
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=='Available')].status`
// +kubebuilder:printcolumn:name="Progressing",type=string,JSONPath=`.status.conditions[?(@.type=='Progressing')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type ClusterObjectSet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ClusterObjectSetSpec `json:"spec,omitzero"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status ClusterObjectSetStatus `json:"status,omitzero"`
}

// ClusterObjectSetList is a list of ClusterObjectSets.
//
// +kubebuilder:object:root=true
type ClusterObjectSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterObjectSet `json:"items"`
}

// LifecycleState says whether a revision is kept up.
//
// +kubebuilder:validation:Enum=Active;Archived
type LifecycleState string

// Lifecycle states.
const (
	// LifecycleStateActive keeps the objects of the revision as it says.
	LifecycleStateActive LifecycleState = "Active"
	// LifecycleStateArchived gives the objects up: those of no later revision are deleted.
	LifecycleStateArchived LifecycleState = "Archived"
)

// CollisionProtection says what happens when an object is there already.
//
// +kubebuilder:validation:Enum=Prevent;IfNoController;None
type CollisionProtection string

// Collision protections.
const (
	// CollisionProtectionPrevent refuses objects that are there already.
	CollisionProtectionPrevent CollisionProtection = "Prevent"
	// CollisionProtectionIfNoController adopts objects that no one controls.
	CollisionProtectionIfNoController CollisionProtection = "IfNoController"
	// CollisionProtectionNone adopts any object.
	CollisionProtectionNone CollisionProtection = "None"
)

// ClusterObjectSetSpec is one revision.
type ClusterObjectSetSpec struct {
	// lifecycleState is Active or Archived. An archived revision stays so.
	//
	// +kubebuilder:validation:XValidation:rule="oldSelf != 'Archived' || self == oldSelf",message="cannot un-archive"
	LifecycleState LifecycleState `json:"lifecycleState"`

	// revision numbers the revisions of an extension. It cannot change.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="revision is immutable"
	Revision int64 `json:"revision"`

	// phases are applied one after the other, each when the one before is available. They cannot change once set.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:XValidation:rule="self == oldSelf || oldSelf.size() == 0",message="phases is immutable"
	Phases []ClusterObjectSetPhase `json:"phases,omitempty"`

	// collisionProtection is for the objects and phases that say nothing of their own. It cannot change.
	//
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="collisionProtection is immutable"
	CollisionProtection CollisionProtection `json:"collisionProtection"`

	// progressDeadlineMinutes is how long the rollout may take before it counts as failed; no limit when absent.
	//
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=720
	ProgressDeadlineMinutes int32 `json:"progressDeadlineMinutes,omitempty"`

	// progressionProbes say when objects are available, beyond what is known of their kinds.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	ProgressionProbes []ProgressionProbe `json:"progressionProbes,omitempty"`
}

// ClusterObjectSetPhase is a group of objects that are applied together.
type ClusterObjectSetPhase struct {
	// name of the phase.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must be a valid DNS1123 label"
	Name string `json:"name"`

	// objects of the phase.
	//
	// +kubebuilder:validation:MaxItems=50
	Objects []ClusterObjectSetObject `json:"objects"`

	// collisionProtection is for the objects that say nothing of their own.
	// +optional
	CollisionProtection CollisionProtection `json:"collisionProtection,omitempty"`
}

// ClusterObjectSetObject is an object, in place or in a Secret.
//
// +kubebuilder:validation:XValidation:rule="has(self.object) != has(self.ref)",message="exactly one of the fields in [object ref] must be set"
type ClusterObjectSetObject struct {
	// object is the object itself.
	//
	// +optional
	// +kubebuilder:validation:EmbeddedResource
	// +kubebuilder:pruning:PreserveUnknownFields
	Object *unstructured.Unstructured `json:"object,omitempty"`

	// ref is a key of a Secret that holds the object.
	// +optional
	Ref *ObjectSourceRef `json:"ref,omitempty"`

	// collisionProtection says what happens when the object is there already.
	// +optional
	CollisionProtection CollisionProtection `json:"collisionProtection,omitempty"`
}

// ObjectSourceRef is a key of a Secret.
type ObjectSourceRef struct {
	// name of the Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// namespace of the Secret; that of the manager when absent.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// key of the Secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}
