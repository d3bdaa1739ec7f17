// Package config embeds those shipped manifests that programs need: the admission policies and the roles of the manager. Everything else in the directory is for kubectl
// and Helm.
package config

import _ "embed"

// Policies is the YAML of the ValidatingAdmissionPolicies and their bindings, for a manager in the namespace olm.
//
//go:embed policies.yaml
var Policies []byte

// Rights is the YAML of the manager's service account, roles and bindings, for the namespace olm.
//
//go:embed rbac.yaml
var Rights []byte
