package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstallPlanPhase is where an InstallPlan stands.
type InstallPlanPhase string

// Phases of an InstallPlan.
const (
	InstallPlanPhaseNone             InstallPlanPhase = ""
	InstallPlanPhasePlanning         InstallPlanPhase = "Planning"
	InstallPlanPhaseRequiresApproval InstallPlanPhase = "RequiresApproval"
	InstallPlanPhaseInstalling       InstallPlanPhase = "Installing"
	InstallPlanPhaseComplete         InstallPlanPhase = "Complete"
	InstallPlanPhaseFailed           InstallPlanPhase = "Failed"
)

// InstallPlanConditionType names an observation of an InstallPlan.
type InstallPlanConditionType string

// Condition types of an InstallPlan.
const (
	InstallPlanResolved  InstallPlanConditionType = "Resolved"
	InstallPlanInstalled InstallPlanConditionType = "Installed"
)

// InstallPlanConditionReason says why a condition of an InstallPlan has its status.
type InstallPlanConditionReason string

// Reasons of an InstallPlan's conditions.
const (
	InstallPlanReasonPlanUnknown        InstallPlanConditionReason = "PlanUnknown"
	InstallPlanReasonInstallCheckFailed InstallPlanConditionReason = "InstallCheckFailed"
	InstallPlanReasonDependencyConflict InstallPlanConditionReason = "DependenciesConflict"
	InstallPlanReasonComponentFailed    InstallPlanConditionReason = "InstallComponentFailed"
	// InstallPlanReasonContentInvalid is for content that the API server never takes: no other plan is made for the same content.
	InstallPlanReasonContentInvalid InstallPlanConditionReason = "ContentInvalid"
)

// InstallPlanStatus is the plan and how far it got.
type InstallPlanStatus struct {
	// phase is where the plan stands.
	Phase InstallPlanPhase `json:"phase"`
	// conditions are the latest observations of the plan.
	// +optional
	Conditions []InstallPlanCondition `json:"conditions,omitempty"`
	// catalogSources are the catalogs that the plan was made from.
	// +nullable
	CatalogSources []string `json:"catalogSources"`
	// plan lists the objects to create, in order.
	// +optional
	Plan []*Step `json:"plan,omitempty"`
	// bundleLookups are the bundles whose content the plan waits for.
	// +optional
	BundleLookups []BundleLookup `json:"bundleLookups,omitempty"`
	// attenuatedServiceAccountRef is the service account that the plan is run as.
	// +optional
	AttenuatedServiceAccountRef *corev1.ObjectReference `json:"attenuatedServiceAccountRef,omitempty"`
	// startTime is when the plan began to run.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// message says for people why the plan is in its phase.
	// +optional
	Message string `json:"message,omitempty"`
}

// InstallPlanCondition is one observation of an InstallPlan.
type InstallPlanCondition struct {
	// +optional
	Type InstallPlanConditionType `json:"type,omitempty"`
	// +optional
	Status corev1.ConditionStatus `json:"status,omitempty"`
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Reason InstallPlanConditionReason `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// StepStatus says how far one step got.
type StepStatus string

// Statuses of a step.
const (
	StepStatusUnknown             StepStatus = "Unknown"
	StepStatusNotPresent          StepStatus = "NotPresent"
	StepStatusPresent             StepStatus = "Present"
	StepStatusCreated             StepStatus = "Created"
	StepStatusNotCreated          StepStatus = "NotCreated"
	StepStatusWaitingForAPI       StepStatus = "WaitingForApi"
	StepStatusUnsupportedResource StepStatus = "UnsupportedResource"
)

// Step is one object that a plan creates.
type Step struct {
	// resolving is the ClusterServiceVersion that the object belongs to.
	Resolving string `json:"resolving"`
	// resource is the object.
	Resource StepResource `json:"resource"`
	// optional steps may fail without failing the plan.
	// +optional
	Optional bool `json:"optional,omitempty"`
	// status says how far the step got.
	Status StepStatus `json:"status"`
}

// StepResource is the object of a step.
type StepResource struct {
	CatalogSource          string `json:"sourceName"`
	CatalogSourceNamespace string `json:"sourceNamespace"`
	Group                  string `json:"group"`
	Version                string `json:"version"`
	Kind                   string `json:"kind"`
	Name                   string `json:"name"`
	// manifest is the object, or a reference to it, as JSON.
	// +optional
	Manifest string `json:"manifest,omitempty"`
}

// BundleLookupConditionType names an observation of a bundle lookup.
type BundleLookupConditionType string

// Condition types of a bundle lookup.
const (
	// BundleLookupPending is True while the bundle is fetched.
	BundleLookupPending BundleLookupConditionType = "BundleLookupPending"
	// BundleLookupFailed is True when the bundle cannot be had.
	BundleLookupFailed BundleLookupConditionType = "BundleLookupFailed"
	// BundleLookupNotPersisted is True while the content of the bundle is not part of the plan yet.
	BundleLookupNotPersisted BundleLookupConditionType = "BundleLookupNotPersisted"
	// BundleLookupSignatureVerified reports who signed the bundle, or why the signature policy refuses it. It is absent where no policy is
	// configured.
	BundleLookupSignatureVerified BundleLookupConditionType = "SignatureVerified"
)

// BundleLookupCondition is one observation of a bundle lookup.
type BundleLookupCondition struct {
	Type   BundleLookupConditionType `json:"type"`
	Status corev1.ConditionStatus    `json:"status"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// BundleLookup is a bundle whose content a plan waits for.
type BundleLookup struct {
	// path is the image of the bundle.
	Path string `json:"path"`
	// identifier is the name of the bundle's ClusterServiceVersion.
	Identifier string `json:"identifier"`
	// replaces is the ClusterServiceVersion that the bundle replaces.
	Replaces string `json:"replaces"`
	// catalogSourceRef is the catalog that named the bundle.
	CatalogSourceRef *corev1.ObjectReference `json:"catalogSourceRef"`
	// conditions are the latest observations of the lookup.
	// +optional
	Conditions []BundleLookupCondition `json:"conditions,omitempty"`
	// properties are the properties of the bundle, as JSON.
	// +optional
	Properties string `json:"properties,omitempty"`
}
