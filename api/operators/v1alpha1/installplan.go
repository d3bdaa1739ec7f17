package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InstallPlan is a resolved set of objects to create, written down so that it can be approved.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ip,categories=olm
// +kubebuilder:printcolumn:name="CSV",type=string,JSONPath=`.spec.clusterServiceVersionNames[0]`,description="First of the ClusterServiceVersions to install"
// +kubebuilder:printcolumn:name="Approval",type=string,JSONPath=`.spec.approval`,description="Who approves the plan"
// +kubebuilder:printcolumn:name="Approved",type=boolean,JSONPath=`.spec.approved`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type InstallPlan struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec InstallPlanSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1,phase:"",catalogSources:{}}
	Status InstallPlanStatus `json:"status,omitzero"`
}

// InstallPlanList is a list of InstallPlans.
//
// +kubebuilder:object:root=true
type InstallPlanList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []InstallPlan `json:"items"`
}

// Approval says who approves an InstallPlan.
type Approval string

// Approvals.
const (
	// ApprovalAutomatic means that InstallPlans run at once.
	ApprovalAutomatic Approval = "Automatic"
	// ApprovalManual means that InstallPlans wait until a user sets approved.
	ApprovalManual Approval = "Manual"
)

// InstallPlanSpec says what is to be installed and whether that is approved.
type InstallPlanSpec struct {
	// source is the name of a catalog. It is kept for old objects.
	// +optional
	CatalogSource string `json:"source,omitempty"`
	// sourceNamespace is the namespace of a catalog. It is kept for old objects.
	// +optional
	CatalogSourceNamespace string `json:"sourceNamespace,omitempty"`
	// clusterServiceVersionNames are the versions that the plan installs.
	ClusterServiceVersionNames []string `json:"clusterServiceVersionNames"`
	// approval says who approves the plan.
	Approval Approval `json:"approval"`
	// approved lets the plan run.
	Approved bool `json:"approved"`
	// generation counts the plans of a namespace.
	// +optional
	Generation int `json:"generation,omitempty"`
}
