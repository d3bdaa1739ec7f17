package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterExtension installs an operator of a catalog into the cluster and keeps it up to date.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:metadata:annotations="olm.operatorframework.io/generator=experimental"
// +kubebuilder:printcolumn:name="Installed Bundle",type=string,JSONPath=`.status.install.bundle.name`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.install.bundle.version`
// +kubebuilder:printcolumn:name="Installed",type=string,JSONPath=`.status.conditions[?(@.type=='Installed')].status`
// +kubebuilder:printcolumn:name="Progressing",type=string,JSONPath=`.status.conditions[?(@.type=='Progressing')].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type ClusterExtension struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec ClusterExtensionSpec `json:"spec,omitzero"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1}
	Status ClusterExtensionStatus `json:"status,omitzero"`
}

// ClusterExtensionList is a list of ClusterExtensions.
//
// +kubebuilder:object:root=true
type ClusterExtensionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterExtension `json:"items"`
}

// ClusterExtensionSpec says what to install, where from and where to.
type ClusterExtensionSpec struct {
	// namespace is where the namespaced objects of the extension go. It has to exist, and cannot change.
	//
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="namespace is immutable"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="namespace must be a valid DNS1123 label"
	Namespace string `json:"namespace"`

	// serviceAccount limits what the extension may install to what the service account may do.
	// +optional
	ServiceAccount *ServiceAccountReference `json:"serviceAccount,omitempty"`

	// source says where the extension comes from.
	Source SourceConfig `json:"source"`

	// install changes how the extension is installed.
	// +optional
	Install *ClusterExtensionInstallConfig `json:"install,omitempty"`

	// config configures the extension in the way that its bundle defines.
	// +optional
	Config *ClusterExtensionConfig `json:"config,omitempty"`

	// progressDeadlineMinutes is how long a rollout may take before it counts as failed; no limit when absent.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=720
	ProgressDeadlineMinutes int32 `json:"progressDeadlineMinutes,omitempty"`
}

// ServiceAccountReference names a service account in the namespace of the extension.
//
// +kubebuilder:validation:MinProperties=1
type ServiceAccountReference struct {
	// name is the service account. It cannot change, but it can be taken away.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="name is immutable"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="name must be a valid DNS1123 subdomain: lower case letters, digits, hyphens and dots"
	Name string `json:"name,omitempty"`
}

// ClusterExtensionInstallConfig changes how an extension is installed.
//
// +kubebuilder:validation:XValidation:rule="has(self.preflight)",message="at least one of [preflight] are required when install is specified"
type ClusterExtensionInstallConfig struct {
	// preflight changes the checks that are made before anything is applied.
	// +optional
	Preflight *PreflightConfig `json:"preflight,omitempty"`
}

// PreflightConfig changes the checks that are made before anything is applied.
//
// +kubebuilder:validation:XValidation:rule="has(self.crdUpgradeSafety)",message="at least one of [crdUpgradeSafety] are required when preflight is specified"
type PreflightConfig struct {
	// crdUpgradeSafety changes the check that an upgrade of a CRD breaks no stored object.
	// +required
	CRDUpgradeSafety *CRDUpgradeSafetyPreflightConfig `json:"crdUpgradeSafety,omitempty"`
}

// CRDUpgradeSafetyEnforcement says whether the CRD upgrade check is made.
//
// +kubebuilder:validation:Enum=None;Strict
type CRDUpgradeSafetyEnforcement string

// Enforcements of the CRD upgrade check.
const (
	// CRDUpgradeSafetyEnforcementNone leaves the check out.
	CRDUpgradeSafetyEnforcementNone CRDUpgradeSafetyEnforcement = "None"
	// CRDUpgradeSafetyEnforcementStrict makes the check; it is so when nothing is said.
	CRDUpgradeSafetyEnforcementStrict CRDUpgradeSafetyEnforcement = "Strict"
)

// CRDUpgradeSafetyPreflightConfig changes the check of CRD upgrades.
type CRDUpgradeSafetyPreflightConfig struct {
	// enforcement is None or Strict.
	Enforcement CRDUpgradeSafetyEnforcement `json:"enforcement"`
}

// ClusterExtensionConfigType says how a configuration is given.
//
// +kubebuilder:validation:Enum=Inline
type ClusterExtensionConfigType string

// ClusterExtensionConfigTypeInline means that the configuration is in the object itself.
const ClusterExtensionConfigTypeInline ClusterExtensionConfigType = "Inline"

// ClusterExtensionConfig configures an extension.
//
// +kubebuilder:validation:XValidation:rule="has(self.configType) && self.configType == 'Inline' ? has(self.inline) : !has(self.inline)",message="inline is required when configType is Inline, and forbidden otherwise"
type ClusterExtensionConfig struct {
	// configType is Inline.
	ConfigType ClusterExtensionConfigType `json:"configType"`

	// inline is the configuration. It has to match the schema of the bundle.
	//
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:MinProperties=1
	Inline *apiextensionsv1.JSON `json:"inline,omitempty"`
}
