package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Subscription keeps an operator of a catalog installed and up to date.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName={sub,subs},categories=olm
// +kubebuilder:printcolumn:name="Package",type=string,JSONPath=`.spec.name`,description="Package to keep installed"
// +kubebuilder:printcolumn:name="Source",type=string,JSONPath=`.spec.source`,description="CatalogSource that offers the package"
// +kubebuilder:printcolumn:name="Channel",type=string,JSONPath=`.spec.channel`,description="Channel to follow"
// +kubebuilder:printcolumn:name="Installed",type=string,JSONPath=`.status.installedCSV`,description="ClusterServiceVersion that is installed"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=='Ready')].reason`
type Subscription struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// +kubebuilder:validation:Required
	Spec *SubscriptionSpec `json:"spec"`
	// +optional
	// +kubebuilder:default={observedGeneration:-1,lastUpdated:"1970-01-01T00:00:00Z"}
	Status SubscriptionStatus `json:"status,omitzero"`
}

// SubscriptionList is a list of Subscriptions.
//
// +kubebuilder:object:root=true
type SubscriptionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Subscription `json:"items"`
}

// SubscriptionSpec says which package to install from where, and how to keep it up to date.
type SubscriptionSpec struct {
	// source is the name of the CatalogSource.
	CatalogSource string `json:"source"`
	// sourceNamespace is the namespace of the CatalogSource.
	CatalogSourceNamespace string `json:"sourceNamespace"`
	// name is the package.
	Package string `json:"name"`
	// channel is the channel to follow; when empty any channel of the package, the default channel first.
	// +optional
	Channel string `json:"channel,omitempty"`
	// startingCSV is the first version to install; the channel head when empty.
	// +optional
	StartingCSV string `json:"startingCSV,omitempty"`
	// installPlanApproval is Automatic or Manual; anything but Manual means Automatic.
	// +optional
	InstallPlanApproval Approval `json:"installPlanApproval,omitempty"`
	// config changes the Deployments of the operator.
	// +optional
	Config *SubscriptionConfig `json:"config,omitempty"`
}

// SubscriptionConfig changes the Deployments of the installed operator.
type SubscriptionConfig struct {
	// selector limits the change to the Deployments with these labels; all when absent.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// nodeSelector replaces the pods' node selector.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// tolerations are added to the pods.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// resources replace those of every container.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// envFrom is added to every container.
	// +optional
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// env is merged by name into every container.
	// +optional
	// +patchMergeKey=name
	// +patchStrategy=merge
	Env []corev1.EnvVar `json:"env,omitempty" patchMergeKey:"name" patchStrategy:"merge"`
	// volumes are merged by name into the pods.
	// +optional
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// volumeMounts are merged by name into every container.
	// +optional
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// affinity replaces the parts of the pods' affinity that it names.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// annotations are added to the Deployments and their pods.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// InstallPlanApproval is the approval that InstallPlans of the Subscription get: Manual if so asked, else Automatic.
func (s *Subscription) InstallPlanApproval() Approval {
	if s.Spec != nil && s.Spec.InstallPlanApproval == ApprovalManual {
		return ApprovalManual
	}
	return ApprovalAutomatic
}
