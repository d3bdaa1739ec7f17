package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterServiceVersionPhase is where the installation of a ClusterServiceVersion stands.
type ClusterServiceVersionPhase string

// Phases of a ClusterServiceVersion.
const (
	// CSVPhaseNone means that no one has checked the CSV yet.
	CSVPhaseNone ClusterServiceVersionPhase = ""
	// CSVPhasePending means that requirements are not met, or not checked yet.
	CSVPhasePending ClusterServiceVersionPhase = "Pending"
	// CSVPhaseInstallReady means that all requirements are met and the install starts.
	CSVPhaseInstallReady ClusterServiceVersionPhase = "InstallReady"
	// CSVPhaseInstalling means that the install strategy was applied and is not healthy yet.
	CSVPhaseInstalling ClusterServiceVersionPhase = "Installing"
	// CSVPhaseSucceeded means that the operator runs.
	CSVPhaseSucceeded ClusterServiceVersionPhase = "Succeeded"
	// CSVPhaseFailed means that the install failed, or that the operator no longer runs.
	CSVPhaseFailed ClusterServiceVersionPhase = "Failed"
	// CSVPhaseUnknown means that the state could not be found out.
	CSVPhaseUnknown ClusterServiceVersionPhase = "Unknown"
	// CSVPhaseReplacing means that a newer CSV replaces it.
	CSVPhaseReplacing ClusterServiceVersionPhase = "Replacing"
	// CSVPhaseDeleting means that a newer CSV has replaced it and this one is to be deleted.
	CSVPhaseDeleting ClusterServiceVersionPhase = "Deleting"
)

// ConditionReason says why a ClusterServiceVersion is in its phase.
type ConditionReason string

// Reasons of a ClusterServiceVersion's phase.
const (
	CSVReasonRequirementsUnknown              ConditionReason = "RequirementsUnknown"
	CSVReasonRequirementsNotMet               ConditionReason = "RequirementsNotMet"
	CSVReasonRequirementsMet                  ConditionReason = "AllRequirementsMet"
	CSVReasonOwnerConflict                    ConditionReason = "OwnerConflict"
	CSVReasonComponentFailed                  ConditionReason = "InstallComponentFailed"
	CSVReasonComponentFailedNoRetry           ConditionReason = "InstallComponentFailedNoRetry"
	CSVReasonInvalidStrategy                  ConditionReason = "InvalidInstallStrategy"
	CSVReasonWaiting                          ConditionReason = "InstallWaiting"
	CSVReasonInstallSuccessful                ConditionReason = "InstallSucceeded"
	CSVReasonInstallCheckFailed               ConditionReason = "InstallCheckFailed"
	CSVReasonComponentUnhealthy               ConditionReason = "ComponentUnhealthy"
	CSVReasonBeingReplaced                    ConditionReason = "BeingReplaced"
	CSVReasonReplaced                         ConditionReason = "Replaced"
	CSVReasonNeedsReinstall                   ConditionReason = "NeedsReinstall"
	CSVReasonNeedsCertRotation                ConditionReason = "NeedsCertRotation"
	CSVReasonAPIServiceResourceIssue          ConditionReason = "APIServiceResourceIssue"
	CSVReasonAPIServiceResourcesNeedReinstall ConditionReason = "APIServiceResourcesNeedReinstall"
	CSVReasonAPIServiceInstallFailed          ConditionReason = "APIServiceInstallFailed"
	CSVReasonCopied                           ConditionReason = "Copied"
	CSVReasonInvalidInstallModes              ConditionReason = "InvalidInstallModes"
	CSVReasonNoTargetNamespaces               ConditionReason = "NoTargetNamespaces"
	CSVReasonUnsupportedOperatorGroup         ConditionReason = "UnsupportedOperatorGroup"
	CSVReasonNoOperatorGroup                  ConditionReason = "NoOperatorGroup"
	CSVReasonTooManyOperatorGroups            ConditionReason = "TooManyOperatorGroups"
	CSVReasonInterOperatorGroupOwnerConflict  ConditionReason = "InterOperatorGroupOwnerConflict"
	CSVReasonCannotModifyStaticProvidedAPIs   ConditionReason = "CannotModifyStaticOperatorGroupProvidedAPIs"
	CSVReasonDetectedClusterChange            ConditionReason = "DetectedClusterChange"
	CSVReasonInvalidWebhookDescription        ConditionReason = "InvalidWebhookDescription"
	CSVReasonOperatorConditionNotUpgradeable  ConditionReason = "OperatorConditionNotUpgradeable"
	CSVReasonWaitingOnCleanup                 ConditionReason = "WaitingOnCleanup"
)

// ClusterServiceVersionStatus is what the manager observed about a ClusterServiceVersion.
type ClusterServiceVersionStatus struct {
	// phase is where the installation stands.
	// +optional
	Phase ClusterServiceVersionPhase `json:"phase,omitempty"`
	// message says for people why the CSV is in its phase.
	// +optional
	Message string `json:"message,omitempty"`
	// reason says in one word why the CSV is in its phase.
	// +optional
	Reason ConditionReason `json:"reason,omitempty"`
	// lastUpdateTime is when the status was last set.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// lastTransitionTime is when the phase last changed.
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// conditions are Ready with Reconciling or Stalled, which have a type, and then the last phases and reasons, oldest first.
	// +optional
	Conditions []ClusterServiceVersionCondition `json:"conditions,omitempty"`
	// requirementStatus has a row for each requirement.
	// +optional
	RequirementStatus []RequirementStatus `json:"requirementStatus,omitempty"`
	// observedGeneration is the generation of the spec that the status is about; -1 before the first one. A copy has none.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// certsLastUpdated is when the serving certificates were last made.
	// +optional
	CertsLastUpdated *metav1.Time `json:"certsLastUpdated,omitempty"`
	// certsRotateAt is when the serving certificates are to be made again.
	// +optional
	CertsRotateAt *metav1.Time `json:"certsRotateAt,omitempty"`
	// cleanup lists what is still to be deleted before the CSV goes.
	// +optional
	Cleanup CleanupStatus `json:"cleanup,omitzero"`
}

// ClusterServiceVersionCondition is one entry of the history of phases, or, where it has a type, a condition.
type ClusterServiceVersionCondition struct {
	// type is Ready, Reconciling or Stalled; entries of the history have none.
	// +optional
	Type string `json:"type,omitempty"`
	// status of a condition; entries of the history have none.
	// +optional
	Status metav1.ConditionStatus `json:"status,omitempty"`
	// +optional
	Phase ClusterServiceVersionPhase `json:"phase,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	Reason ConditionReason `json:"reason,omitempty"`
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// StatusReason is the outcome of one requirement check.
type StatusReason string

// Outcomes of requirement checks and of their dependents.
const (
	RequirementStatusReasonPresent             StatusReason = "Present"
	RequirementStatusReasonNotPresent          StatusReason = "NotPresent"
	RequirementStatusReasonPresentNotSatisfied StatusReason = "PresentNotSatisfied"
	RequirementStatusReasonNotAvailable        StatusReason = "PresentNotAvailable"
	RequirementStatusReasonDeploymentFound     StatusReason = "DeploymentFound"
	RequirementStatusReasonDeploymentNotFound  StatusReason = "DeploymentNotFound"

	DependentStatusReasonSatisfied    StatusReason = "Satisfied"
	DependentStatusReasonNotSatisfied StatusReason = "NotSatisfied"
)

// RequirementStatus is the outcome of the check of one requirement.
type RequirementStatus struct {
	Group   string       `json:"group"`
	Version string       `json:"version"`
	Kind    string       `json:"kind"`
	Name    string       `json:"name"`
	Status  StatusReason `json:"status"`
	Message string       `json:"message"`
	// uuid is the UID of the object that meets the requirement.
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	Dependents []DependentStatus `json:"dependents,omitempty"`
}

// DependentStatus is the outcome of one part of a requirement, such as a single RBAC rule.
type DependentStatus struct {
	Group   string       `json:"group"`
	Version string       `json:"version"`
	Kind    string       `json:"kind"`
	Status  StatusReason `json:"status"`
	// +optional
	UUID string `json:"uuid,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
}

// CleanupStatus lists the custom resources that are still to be deleted.
type CleanupStatus struct {
	// +optional
	PendingDeletion []ResourceList `json:"pendingDeletion,omitempty"`
}

// ResourceList is the instances of one kind.
type ResourceList struct {
	Group     string             `json:"group"`
	Kind      string             `json:"kind"`
	Instances []ResourceInstance `json:"instances"`
}

// ResourceInstance names one object.
type ResourceInstance struct {
	Name string `json:"name"`
	// namespace is empty for cluster scoped objects.
	// +optional
	Namespace string `json:"namespace,omitempty"`
}
