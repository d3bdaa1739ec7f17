// Package config embeds the shipped manifests of the manager: the admission policies and its roles, which programs compare a cluster with, and all files of the
// kustomizations that install it, which fairlead system install applies. The rest of the directory is for kubectl and Helm.
package config

import "embed"

// Policies is the YAML of the ValidatingAdmissionPolicies and their bindings, for a manager in the namespace olm.
//
//go:embed policies.yaml
var Policies []byte

// Rights is the YAML of the manager's service account, roles and bindings, for the namespace olm.
//
//go:embed rbac.yaml
var Rights []byte

// Files are the kustomization of the manager in the namespace olm, its components, and the kustomization of what a new cluster has besides.
//
//go:embed *.yaml console/*.yaml defaults/*.yaml profiles/v0/*.yaml
var Files embed.FS
