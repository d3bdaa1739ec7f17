package v1alpha1

import (
	"encoding/json"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// CustomResourceDefinitions are the CRDs that an operator owns and those that it requires.
//
// +k8s:openapi-gen=true
type CustomResourceDefinitions struct {
	// +optional
	Owned []CRDDescription `json:"owned,omitempty"`
	// +optional
	Required []CRDDescription `json:"required,omitempty"`
}

// CRDDescription describes one version of a CRD.
//
// +k8s:openapi-gen=true
type CRDDescription struct {
	// name is the name of the CRD: <plural>.<group>.
	Name    string `json:"name"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// +optional
	Description string `json:"description,omitempty"`
	// +optional
	Resources []APIResourceReference `json:"resources,omitempty"`
	// +optional
	StatusDescriptors []Descriptor `json:"statusDescriptors,omitempty"`
	// +optional
	SpecDescriptors []Descriptor `json:"specDescriptors,omitempty"`
	// +optional
	ActionDescriptor []Descriptor `json:"actionDescriptors,omitempty"`
}

// APIServiceDefinitions are the aggregated APIs that an operator owns and those that it requires.
//
// +k8s:openapi-gen=true
type APIServiceDefinitions struct {
	// +optional
	Owned []APIServiceDescription `json:"owned,omitempty"`
	// +optional
	Required []APIServiceDescription `json:"required,omitempty"`
}

// APIServiceDescription describes one kind of an aggregated API.
//
// +k8s:openapi-gen=true
type APIServiceDescription struct {
	// name is the plural name of the resource.
	Name    string `json:"name"`
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	// deploymentName is the Deployment of the install strategy that serves an owned API.
	// +optional
	DeploymentName string `json:"deploymentName,omitempty"`
	// containerPort is the port that the Deployment's pods serve on.
	// +optional
	ContainerPort int32 `json:"containerPort,omitempty"`
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// +optional
	Description string `json:"description,omitempty"`
	// +optional
	Resources []APIResourceReference `json:"resources,omitempty"`
	// +optional
	StatusDescriptors []Descriptor `json:"statusDescriptors,omitempty"`
	// +optional
	SpecDescriptors []Descriptor `json:"specDescriptors,omitempty"`
	// +optional
	ActionDescriptor []Descriptor `json:"actionDescriptors,omitempty"`
}

// APIServiceName is the name of the APIService object that registers the API: <version>.<group>.
func (d APIServiceDescription) APIServiceName() string {
	return fmt.Sprintf("%s.%s", d.Version, d.Group)
}

// APIResourceReference is a kind of resource that is created for a custom resource. Published operators leave parts of
// it out, so nothing is required.
//
// +k8s:openapi-gen=true
type APIResourceReference struct {
	// +optional
	Name string `json:"name,omitempty"`
	// +optional
	Kind string `json:"kind,omitempty"`
	// +optional
	Version string `json:"version,omitempty"`
}

// Descriptor tells user interfaces about one field or action of a custom resource.
//
// +k8s:openapi-gen=true
type Descriptor struct {
	// path is the field, relative to spec or status.
	Path string `json:"path"`
	// +optional
	DisplayName string `json:"displayName,omitempty"`
	// +optional
	Description string `json:"description,omitempty"`
	// +optional
	XDescriptors []string `json:"x-descriptors,omitempty"`
	// value is any JSON value.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Value json.RawMessage `json:"value,omitempty"`
}

// WebhookAdmissionType is the kind of a webhook.
//
// +kubebuilder:validation:Enum=ValidatingAdmissionWebhook;MutatingAdmissionWebhook;ConversionWebhook
type WebhookAdmissionType string

// Kinds of webhook.
const (
	ValidatingAdmissionWebhook WebhookAdmissionType = "ValidatingAdmissionWebhook"
	MutatingAdmissionWebhook   WebhookAdmissionType = "MutatingAdmissionWebhook"
	ConversionWebhook          WebhookAdmissionType = "ConversionWebhook"
)

// WebhookDescription is one admission or conversion webhook that an operator serves.
type WebhookDescription struct {
	// generateName is the prefix of the name of the webhook configuration.
	GenerateName string `json:"generateName"`
	// type is the kind of webhook.
	Type WebhookAdmissionType `json:"type"`
	// deploymentName is the Deployment of the install strategy that serves the webhook.
	// +optional
	DeploymentName string `json:"deploymentName,omitempty"`
	// containerPort is the port of the Service in front of the webhook.
	// +optional
	// +kubebuilder:default=443
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ContainerPort int32 `json:"containerPort,omitempty"`
	// targetPort is the port of the pods; containerPort when absent.
	// +optional
	TargetPort *intstr.IntOrString `json:"targetPort,omitempty"`
	// +optional
	Rules []admissionregistrationv1.RuleWithOperations `json:"rules,omitempty"`
	// +optional
	FailurePolicy *admissionregistrationv1.FailurePolicyType `json:"failurePolicy,omitempty"`
	// +optional
	MatchPolicy *admissionregistrationv1.MatchPolicyType `json:"matchPolicy,omitempty"`
	// +optional
	ObjectSelector *metav1.LabelSelector                    `json:"objectSelector,omitempty"`
	SideEffects    *admissionregistrationv1.SideEffectClass `json:"sideEffects"`
	// +optional
	TimeoutSeconds          *int32   `json:"timeoutSeconds,omitempty"`
	AdmissionReviewVersions []string `json:"admissionReviewVersions"`
	// reinvocationPolicy is for mutating webhooks only.
	// +optional
	ReinvocationPolicy *admissionregistrationv1.ReinvocationPolicyType `json:"reinvocationPolicy,omitempty"`
	// webhookPath is the URL path of the webhook.
	// +optional
	WebhookPath *string `json:"webhookPath,omitempty"`
	// conversionCRDs are the names of the CRDs that a conversion webhook converts.
	// +optional
	ConversionCRDs []string `json:"conversionCRDs,omitempty"`
}
