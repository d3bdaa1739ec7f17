package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SourceType says where an extension comes from.
//
// +kubebuilder:validation:Enum=Catalog
type SourceType string

// SourceTypeCatalog means that the extension comes from a ClusterCatalog.
const SourceTypeCatalog SourceType = "Catalog"

// SourceConfig says where an extension comes from.
//
// +kubebuilder:validation:XValidation:rule="has(self.sourceType) && self.sourceType == 'Catalog' ? has(self.catalog) : !has(self.catalog)",message="catalog is required when sourceType is Catalog, and forbidden otherwise"
type SourceConfig struct {
	// sourceType is Catalog.
	SourceType SourceType `json:"sourceType"`
	// catalog selects a bundle of the ClusterCatalogs.
	// +optional
	Catalog *CatalogFilter `json:"catalog,omitempty"`
}

// CatalogFilter selects a bundle of the ClusterCatalogs.
type CatalogFilter struct {
	// packageName is the package. It cannot change.
	//
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="packageName is immutable"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="packageName must be a valid DNS1123 subdomain: lower case letters, digits, hyphens and dots"
	PackageName string `json:"packageName"`

	// version is a version or a range of versions, such as 1.2.3, ">=1.0.0 <2.0.0", ^1 || ^3, 1.x or 1.2 - 1.4. A range
	// with a hyphen is joined to others with a comma, or with || between spaces. Any version when absent.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^\\\\s*((=|!=|>|<|>=|=>|<=|=<|~|~>|\\\\^)?\\\\s*v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?((\\\\s+|\\\\s*,\\\\s*|\\\\s*[|][|]\\\\s*)(=|!=|>|<|>=|=>|<=|=<|~|~>|\\\\^)?\\\\s*v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?)*|(v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?\\\\s+-\\\\s+v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?|(=|!=|>|<|>=|=>|<=|=<|~|~>|\\\\^)?\\\\s*v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?)(\\\\s+(=|!=|>|<|>=|=>|<=|=<|~|~>|\\\\^)?\\\\s*v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?|(\\\\s*,\\\\s*|\\\\s+[|][|]\\\\s+)(v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?\\\\s+-\\\\s+v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?|(=|!=|>|<|>=|=>|<=|=<|~|~>|\\\\^)?\\\\s*v?(0|[1-9][0-9]*|[xX*])([.](0|[1-9][0-9]*|[xX*])){0,2}(-[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?([+][0-9A-Za-z-]+([.][0-9A-Za-z-]+)*)?))*)\\\\s*$')",message="invalid version expression"
	Version string `json:"version,omitempty"`

	// channels limits the versions to those of these channels; all channels when absent.
	//
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="channels entries must be valid DNS1123 subdomains"
	Channels []string `json:"channels,omitempty"`

	// selector limits the ClusterCatalogs by label; each has the label olm.operatorframework.io/metadata.name with its
	// name.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// upgradeConstraintPolicy says which upgrades are allowed: those of the catalog, or any.
	//
	// +optional
	// +kubebuilder:default=CatalogProvided
	UpgradeConstraintPolicy UpgradeConstraintPolicy `json:"upgradeConstraintPolicy,omitempty"`
}

// UpgradeConstraintPolicy says which upgrades are allowed.
//
// +kubebuilder:validation:Enum=CatalogProvided;SelfCertified
type UpgradeConstraintPolicy string

// Upgrade constraint policies.
const (
	// UpgradeConstraintPolicyCatalogProvided allows the upgrade edges of the catalog.
	UpgradeConstraintPolicyCatalogProvided UpgradeConstraintPolicy = "CatalogProvided"
	// UpgradeConstraintPolicySelfCertified allows any change of version, downgrades included.
	UpgradeConstraintPolicySelfCertified UpgradeConstraintPolicy = "SelfCertified"
)
