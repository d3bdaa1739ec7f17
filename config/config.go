// Package config embeds those shipped manifests that programs need: the admission policies. Everything else in the directory is for kubectl
// and Helm.
package config

import _ "embed"

// Policies is the YAML of the ValidatingAdmissionPolicies and their bindings, for a manager in the namespace olm.
//
//go:embed policies.yaml
var Policies []byte
