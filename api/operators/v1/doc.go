// Package v1 holds the operators.coreos.com/v1 kinds: OperatorGroup, OLMConfig, Operator and OperatorCondition (which
// is stored as v2).
//
// It is data with the rules that belong to the data. It never talks to a cluster and imports nothing else of this
// project. Start reading at operatorgroup.go; each other kind has its own file.
//
// +groupName=operators.coreos.com
// +kubebuilder:object:generate=true
package v1
