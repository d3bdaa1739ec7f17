// Package v1 holds the packages.operators.coreos.com/v1 kind: PackageManifest, what a catalog offers of one package.
//
// It is data only: no CRD stands behind it, an aggregated API server makes the objects up. It never talks to a cluster.
// It uses the ClusterServiceVersion's types for what is copied from there. Start reading at packagemanifest.go.
//
// +groupName=packages.operators.coreos.com
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=com.coreos.operators.packages.v1
// +kubebuilder:object:generate=true
package v1
