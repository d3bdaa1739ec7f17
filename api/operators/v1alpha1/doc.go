// Package v1alpha1 holds the operators.coreos.com/v1alpha1 kinds: ClusterServiceVersion, Subscription, InstallPlan
// and CatalogSource.
//
// It is data with the rules that belong to the data: JSON names, phases, reasons, condition constructors and small
// pure methods such as InstallModeSet.Supports. It never talks to a cluster and imports nothing else of this project.
//
// Start reading at clusterserviceversion.go; each other kind has its own <kind>.go and <kind>_status.go. keys.go
// lists the labels, annotations and finalizers that the kinds use.
//
// +groupName=operators.coreos.com
// +k8s:openapi-model-package=com.coreos.operators.v1alpha1
// +kubebuilder:object:generate=true
package v1alpha1
