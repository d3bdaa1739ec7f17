// Package v1alpha2 holds the operators.coreos.com/v1alpha2 kind: OperatorGroup as it was before v1, still served.
//
// It is data only. It never talks to a cluster and imports nothing else of this project. Start reading at
// operatorgroup.go; new code uses v1.
//
// +groupName=operators.coreos.com
// +kubebuilder:object:generate=true
package v1alpha2
