package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OLMConfigName is the name of the only OLMConfig that counts.
const OLMConfigName = "cluster"

// OLMConfig configures the manager.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=olm
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="CopiesDisabled",type=string,JSONPath=`.status.conditions[?(@.type=='DisabledCopiedCSVs')].status`,description="Whether ClusterServiceVersions are not copied"
type OLMConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// +optional
	Spec OLMConfigSpec `json:"spec,omitzero"`
	// +optional
	Status OLMConfigStatus `json:"status,omitzero"`
}

// OLMConfigList is a list of OLMConfigs.
//
// +kubebuilder:object:root=true
type OLMConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []OLMConfig `json:"items"`
}

// OLMConfigSpec holds the settings.
type OLMConfigSpec struct {
	// features are settings of single features.
	// +optional
	Features *Features `json:"features,omitempty"`
}

// Features are settings of single features.
type Features struct {
	// disableCopiedCSVs stops copying ClusterServiceVersions of operators that watch all namespaces.
	// +optional
	DisableCopiedCSVs *bool `json:"disableCopiedCSVs,omitempty"`
	// packageServerSyncInterval is how often package manifests are read again, such as 5m or 1h30m.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="packageServerSyncInterval must be a duration of at most 290 years"
	PackageServerSyncInterval *metav1.Duration `json:"packageServerSyncInterval,omitempty"`
}

// OLMConfigStatus is what the manager made of the settings.
type OLMConfigStatus struct {
	// conditions are the latest observations.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Condition types and reasons of OLMConfig.
const (
	// OLMConfigDisabledCopiedCSVs is True when copying is disabled and no copy is left.
	OLMConfigDisabledCopiedCSVs       = "DisabledCopiedCSVs"
	OLMConfigReasonCopiedCSVsEnabled  = "CopiedCSVsEnabled"
	OLMConfigReasonCopiedCSVsDisabled = "CopiedCSVsDisabled"
)

// CopiedCSVsEnabled says whether ClusterServiceVersions are copied; they are unless disabled. A nil OLMConfig is one
// without settings.
func (c *OLMConfig) CopiedCSVsEnabled() bool {
	if c == nil || c.Spec.Features == nil || c.Spec.Features.DisableCopiedCSVs == nil {
		return true
	}
	return !*c.Spec.Features.DisableCopiedCSVs
}

// PackageServerSyncInterval is the configured interval, or nil. A nil OLMConfig is one without settings.
func (c *OLMConfig) PackageServerSyncInterval() *metav1.Duration {
	if c == nil || c.Spec.Features == nil {
		return nil
	}
	return c.Spec.Features.PackageServerSyncInterval
}
