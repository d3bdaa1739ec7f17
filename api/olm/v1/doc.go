// Package v1 holds the olm.operatorframework.io/v1 kinds: ClusterExtension, ClusterCatalog and ClusterObjectSet.
//
// It is data with the rules that belong to the data: JSON names, admission rules, condition types and reasons. It never
// talks to a cluster and imports nothing else of this project. Start reading at clusterextension.go; each other kind has
// its own <kind>.go and <kind>_status.go, conditions.go makes conditions and keys.go lists labels and annotations.
//
// +groupName=olm.operatorframework.io
// +kubebuilder:object:generate=true
package v1
