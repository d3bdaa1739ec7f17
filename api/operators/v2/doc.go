// Package v2 holds the operators.coreos.com/v2 kind: OperatorCondition.
//
// It is data with the rules that belong to the data. It never talks to a cluster and imports nothing else of this
// project. Start reading at operatorcondition.go.
//
// +groupName=operators.coreos.com
// +kubebuilder:object:generate=true
package v2
