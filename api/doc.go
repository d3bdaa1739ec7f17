// Package api is the root of the API kinds; it holds no code itself.
//
// operators/{v1alpha1,v1alpha2,v1,v2} are the classic kinds of operators.coreos.com, packages/v1 is the aggregated
// PackageManifest, olm/v1 are the cluster scoped kinds of olm.operatorframework.io, crds embeds the
// CustomResourceDefinitions that are generated from the types, and registry is the gRPC API of catalogs. None of them ever
// talks to a cluster.
//
// Start reading at operators/v1alpha1. After a change of a type run go generate ./api/...
package api

//go:generate go tool controller-gen object paths=./operators/...;./olm/...;./packages/...
