package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// SubscriptionState says where a Subscription stands with regard to upgrades.
type SubscriptionState string

// States of a Subscription.
const (
	SubscriptionStateNone             SubscriptionState = ""
	SubscriptionStateFailed           SubscriptionState = "UpgradeFailed"
	SubscriptionStateUpgradeAvailable SubscriptionState = "UpgradeAvailable"
	SubscriptionStateUpgradePending   SubscriptionState = "UpgradePending"
	SubscriptionStateAtLatest         SubscriptionState = "AtLatestKnown"
)

// Reasons of a Subscription's state.
const (
	SubscriptionReasonInvalidCatalog   ConditionReason = "InvalidCatalog"
	SubscriptionReasonUpgradeSucceeded ConditionReason = "UpgradeSucceeded"
)

// SubscriptionStatus is what the manager observed about a Subscription.
type SubscriptionStatus struct {
	// currentCSV is the version that the Subscription is moving to.
	// +optional
	CurrentCSV string `json:"currentCSV,omitempty"`
	// installedCSV is the version that is installed.
	// +optional
	InstalledCSV string `json:"installedCSV,omitempty"`
	// installplan mirrors installPlanRef. Deprecated: read installPlanRef.
	// +optional
	Install *InstallPlanReference `json:"installplan,omitempty"`
	// installPlanRef is the latest InstallPlan of the Subscription.
	// +optional
	InstallPlanRef *corev1.ObjectReference `json:"installPlanRef,omitempty"`
	// installPlanGeneration is the generation of that InstallPlan.
	// +optional
	InstallPlanGeneration int `json:"installPlanGeneration,omitempty"`
	// state says where the Subscription stands with regard to upgrades.
	// +optional
	State SubscriptionState `json:"state,omitempty"`
	// reason says in one word why the Subscription is in its state.
	// +optional
	Reason ConditionReason `json:"reason,omitempty"`
	// catalogHealth has an entry for each catalog that the Subscription can see.
	// +optional
	CatalogHealth []SubscriptionCatalogHealth `json:"catalogHealth,omitempty"`
	// conditions are the latest observations of the Subscription.
	// +optional
	Conditions []SubscriptionCondition `json:"conditions,omitempty"`
	// observedGeneration is the generation of the spec that the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// lastUpdated is when the status was last written.
	LastUpdated metav1.Time `json:"lastUpdated"`
}

// InstallPlanReference names an InstallPlan.
type InstallPlanReference struct {
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// +optional
	Kind string `json:"kind,omitempty"`
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	UID types.UID `json:"uuid,omitempty"`
}

// SubscriptionCatalogHealth is the health of one catalog that a Subscription can see.
type SubscriptionCatalogHealth struct {
	CatalogSourceRef *corev1.ObjectReference `json:"catalogSourceRef"`
	LastUpdated      *metav1.Time            `json:"lastUpdated"`
	Healthy          bool                    `json:"healthy"`
}

// SubscriptionConditionType names an observation of a Subscription.
type SubscriptionConditionType string

// Condition types of a Subscription.
const (
	// SubscriptionCatalogSourcesUnhealthy is True when a catalog that the Subscription needs is missing or unhealthy.
	SubscriptionCatalogSourcesUnhealthy SubscriptionConditionType = "CatalogSourcesUnhealthy"
	// SubscriptionInstallPlanMissing is True when the referenced InstallPlan is gone.
	SubscriptionInstallPlanMissing SubscriptionConditionType = "InstallPlanMissing"
	// SubscriptionInstallPlanPending is True while the InstallPlan is not complete.
	SubscriptionInstallPlanPending SubscriptionConditionType = "InstallPlanPending"
	// SubscriptionInstallPlanFailed is True when the InstallPlan failed.
	SubscriptionInstallPlanFailed SubscriptionConditionType = "InstallPlanFailed"
	// SubscriptionResolutionFailed is True when no set of bundles satisfies the Subscription.
	SubscriptionResolutionFailed SubscriptionConditionType = "ResolutionFailed"
	// SubscriptionBundleUnpacking is True while a bundle is fetched.
	SubscriptionBundleUnpacking SubscriptionConditionType = "BundleUnpacking"
	// SubscriptionBundleUnpackFailed is True when a bundle could not be fetched or read.
	SubscriptionBundleUnpackFailed SubscriptionConditionType = "BundleUnpackFailed"
	// SubscriptionDeprecated is True when the package, the channel or the installed bundle is deprecated.
	SubscriptionDeprecated SubscriptionConditionType = "Deprecated"
	// SubscriptionPackageDeprecated is True when the package is deprecated.
	SubscriptionPackageDeprecated SubscriptionConditionType = "PackageDeprecated"
	// SubscriptionChannelDeprecated is True when the channel is deprecated.
	SubscriptionChannelDeprecated SubscriptionConditionType = "ChannelDeprecated"
	// SubscriptionBundleDeprecated is True when the installed bundle is deprecated.
	SubscriptionBundleDeprecated SubscriptionConditionType = "BundleDeprecated"
	// SubscriptionSupported reports whether the installed version is supported, by what its catalog has. It is there when something is installed.
	SubscriptionSupported SubscriptionConditionType = "Supported"
)

// SubscriptionCondition is one observation of a Subscription.
type SubscriptionCondition struct {
	Type   SubscriptionConditionType `json:"type"`
	Status corev1.ConditionStatus    `json:"status"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	LastHeartbeatTime *metav1.Time `json:"lastHeartbeatTime,omitempty"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}
