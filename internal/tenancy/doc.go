// Package tenancy judges how operators share a cluster: which namespaces an OperatorGroup stands for, which APIs its
// members provide, whether two groups compete for the same objects, whether the install modes of an operator fit a group
// and which group would do instead.
//
// Everything here is pure: values in, values out. Who provides what is read from the annotation of the groups, which the
// controller of OperatorGroups writes from Claim; the controller of ClusterServiceVersions asks Judge whether an operator
// may run. Both come to the same conclusion about the same objects, whatever order these arrived in.
//
// Start reading at judge.go; foresee.go judges what is yet to be installed. claims.go says which operators count, for groups and for the upgrades of CustomResourceDefinitions; namespaces.go and apis.go are the two sets, modes.go is about install modes.
package tenancy
